// The draft as words and gaps: buttons in reading order, one of them in the tab order at a time.
// Knows what was pressed, not what it means.

import { element } from "./dom.js";
import { standsFor, wordsOf } from "./document.js";
import { doubt, gapLabel, seen, wordLabel } from "./labels.js";
import { letGo } from "./pointer.js";
import { closePopover, isAnchor, reanchor } from "./popover.js";

/** So many letters without a space fit into a line of a small screen. */
const LINE = 20;

/** Buttons without a space between them; those of a number in one span, for it reads from left to right in any script. */
function numbersInOne(items) {
  const numeral = ({ text = "" }) => /^\p{Nd}+$/u.test(text);
  const [first, last] = [items.findIndex(numeral), items.findLastIndex(numeral)];
  const buttons = items.map(({ button }) => button);
  if (first === last || items.slice(first, last).some(({ text = "" }) => /\p{L}/u.test(text))) return buttons;
  return [...buttons.slice(0, first), element("span", { dir: "ltr" }, ...buttons.slice(first, last + 1)), ...buttons.slice(last + 1)];
}

export class DraftView {
  /** Ends the typing. */
  #finish = () => {};
  /** What is to be shown once nobody types any more. */
  #waiting = null;

  /** `on` has: open(item, anchor), keep(word), cross(word, yes), ask(gap, count), type(place, text, {pasted}). */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    /** Of the words; what is said about gaps is in the language of the page. */
    this.lang = "";
    this.items = [];
    this.at = 0;
    this.input = null;
    root.addEventListener("keydown", (event) => this.#key(event));
    // The key that kept a word must not also press its new button when it is let go.
    root.addEventListener("keyup", (event) => {
      if (event.key === " " && event.target !== this.input) event.preventDefault();
    });
    root.addEventListener("paste", (event) => {
      const item = this.items.find(({ button }) => button === event.target);
      const text = event.clipboardData.getData("text/plain").trim();
      if (!item || !text) return;
      event.preventDefault();
      this.on.type(item, text, { pasted: true });
    });
    root.addEventListener("focusin", (event) => {
      const i = this.items.findIndex((item) => item.button === event.target);
      if (i !== -1) this.#rove(i);
    });
  }

  /** Show a document, once nobody types into it; the focus and the menu stay with their word or gap. */
  render(doc, { fresh = new Set() } = {}) {
    this.#waiting = this.input ? [doc, { fresh }] : null;
    if (this.input) return;
    const focused = this.root.contains(document.activeElement);
    const [here, open] = [this.items[this.at], this.items.find(({ button }) => isAnchor(button))];
    const words = wordsOf(doc);
    this.items = [];
    const gap = (i) => {
      const at = i < words.length ? words[i].start : doc.tokens.length;
      this.items.push({ kind: "gap", start: at, end: at, count: doc.counts[at], before: words[i - 1], after: words[i] });
    };
    words.forEach((word, i) => {
      gap(i);
      this.items.push({ kind: "word", ...word, fresh: word.tokens.some((token) => fresh.has(token.id)) });
    });
    gap(words.length);
    for (const item of this.items) item.button = this.#button(item);
    this.root.replaceChildren(...this.#lines());
    this.#rove(Math.min(this.#find(here) ?? this.at, this.items.length - 1));
    // Where its word is gone, the menu goes back to where the person was: to nothing, it would leave them nowhere.
    if (open) reanchor(this.items[this.#find(open) ?? this.at].button);
    if (focused) this.items[this.at].button.focus();
  }

  /** The number of a word that was shown before, or of what was written over it, or of a gap: there the word before it tells. */
  #find(item) {
    const found = (is) => {
      const i = this.items.findIndex(is);
      return i === -1 ? undefined : i;
    };
    if (item?.kind === "word") return found(({ kind, tokens }) => kind === "word" && standsFor(tokens[0], item.tokens[0].id));
    const gap = (side, end) => {
      const id = item?.[side]?.tokens.at(end).id;
      return id && found((other) => other.kind === "gap" && other[side]?.tokens.at(end).id === id);
    };
    return gap("before", -1) ?? gap("after", 0);
  }

  /** What somebody is typing: {item, text}, or null. */
  get typing() {
    return this.input && { item: this.input.item, text: this.input.value };
  }

  /** The buttons, so that lines break only behind a gap: not before a full stop, and no line begins with a gap. */
  #lines() {
    const groups = [[]];
    for (const item of this.items) {
      const { kind, after, before } = item;
      groups.at(-1).push(item);
      if (kind === "gap" && before && (after?.space || after?.script === "spaceless")) groups.push([]);
    }
    return groups.map((group) => {
      const letters = group.reduce((sum, { text = "" }) => sum + text.length, 0);
      return element("span", { className: letters > LINE ? "" : "together" }, ...numbersInOne(group));
    });
  }

  #button(item) {
    const open = (event) => this.on.open(item, event.currentTarget);
    if (item.kind === "gap") {
      const tight = item.after && !item.after.space ? (item.before?.script === "marks" ? "tight opening" : "tight") : "";
      const asked = item.count === null ? "" : "asked";
      return element(
        "button",
        {
          type: "button",
          className: `gap ${tight} ${asked}`,
          "aria-label": gapLabel(item.before, item.after, item.count),
          "aria-haspopup": "dialog",
          tabIndex: -1,
          onclick: open,
        },
        element("span", { "aria-hidden": "true", dir: "ltr" }, item.count === null ? "+" : item.count === 0 ? "∅" : `+${item.count}`),
      );
    }
    const state = [item.script === "marks" && "mark", item.locked && "locked", item.drop && "crossed", item.mine && "mine", item.fresh && "fresh", doubt(item)];
    return element(
      "button",
      {
        type: "button",
        className: ["word", ...state.filter(Boolean)].join(" "),
        lang: this.lang,
        "aria-label": wordLabel(item),
        "aria-haspopup": "dialog",
        tabIndex: -1,
        onclick: open,
        ondblclick: () => this.edit(item, item.text),
      },
      item.drop ? element("s", {}, seen(item.text) || "␣") : seen(item.text) || "␣",
    );
  }

  #rove(i) {
    this.at = Math.max(i, 0);
    this.items.forEach((item, k) => (item.button.tabIndex = k === this.at ? 0 : -1));
  }

  focus(i = this.at) {
    this.#rove(Math.min(Math.max(i, 0), this.items.length - 1));
    this.items[this.at]?.button.focus();
  }

  /** Take what is being typed as it is, wherever the focus is. */
  endTyping() {
    if (this.input) this.#finish(true, document.activeElement === this.input);
  }

  /** Let the person type in place of a word or in a gap. */
  edit(item, text) {
    if (this.input) return;
    closePopover({ back: false });
    const i = this.items.findIndex(({ kind, start }) => kind === item.kind && start === item.start);
    if (i === -1) return;
    const { button } = this.items[i];
    let done = false;
    const finish = (write, back = true) => {
      if (done) return;
      done = true;
      this.input = null;
      const typed = input.value;
      input.replaceWith(button);
      if (back) this.focus(i);
      if (this.#waiting) this.render(...this.#waiting);
      if (write && typed.trim() !== (item.text ?? "")) this.on.type(item, typed);
    };
    const fit = () => input.style.setProperty("--letters", Math.max(Array.from(input.value).length, 2));
    const input = element("input", {
      type: "text",
      className: "typing",
      lang: this.lang,
      value: text,
      autocomplete: "off",
      spellcheck: false,
      "aria-label": item.kind === "word" ? `Instead of ${item.text}` : this.items[i].button.getAttribute("aria-label"),
      oninput: fit,
      onblur: async ({ relatedTarget }) => {
        // Who only looks into another window will type on.
        if (document.activeElement === input) return;
        // A word that is pressed must not move away under the pointer; who goes elsewhere stays there.
        if (this.root.contains(relatedTarget)) await letGo();
        finish(true, relatedTarget === null);
      },
      onkeydown: (event) => {
        if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
        // With Ctrl or Alt it goes on to the shortcuts, once what was typed is written down.
        finish(event.key === "Enter");
        event.preventDefault();
      },
    });
    fit();
    this.#finish = finish;
    input.item = item;
    button.replaceWith(input);
    this.input = input;
    input.focus();
    if (item.kind === "word" && text === item.text) input.select();
  }

  #key(event) {
    const item = this.items[this.at];
    if (!item || event.target !== item.button || event.isComposing) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const rtl = getComputedStyle(this.root).direction === "rtl" ? -1 : 1;
    const isWord = item.kind === "word";
    const moves = { ArrowRight: rtl, ArrowLeft: -rtl };
    if (event.key in moves) this.focus(this.at + moves[event.key] * (event.shiftKey ? 2 : 1));
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(this.items.length - 1);
    else if (event.key === "Enter" || (event.key === "ArrowDown" && isWord)) this.on.open(item, item.button);
    else if (event.key === "ArrowUp" && isWord) this.on.keep(item);
    else if (event.key === "ArrowUp") this.on.ask(item, item.count === null ? 1 : item.count === 0 ? null : item.count + 1);
    else if (event.key === "ArrowDown") this.on.ask(item, item.count === null || item.count === 0 ? 0 : item.count === 1 ? null : item.count - 1);
    else if (event.key === " ") isWord ? this.on.keep(item) : this.on.open(item, item.button);
    else if (event.key === "Delete" || event.key === "Backspace") this.#crossOut(item, event.key === "Backspace" ? -1 : 1);
    else if (event.key === "F2") this.edit(item, item.text ?? "");
    else if (event.key.length === 1 || Array.from(event.key).length === 1) this.edit(item, event.key);
    else return;
    event.preventDefault();
  }

  /** On a word: cross it out, or take that back. In a gap, as in any editor: the neighbour. */
  #crossOut(item, side) {
    const word = item.kind === "word" ? item : this.items[this.at + side];
    if (!word) return;
    this.on.cross(word);
    if (item.kind === "gap") this.focus(this.at + 2 * side);
  }
}
