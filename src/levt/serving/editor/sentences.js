// A text of several sentences: a model that has learnt sentences does better one by one.
// Knows the session and the list of sentences on the page; no server.

import { inARow, textOf } from "./document.js";
import { byId, element } from "./dom.js";
import { hide } from "./focus.js";
import { visible } from "./pieces.js";
import { blank } from "./state.js";
import { newToken } from "./trace.js";

/** Tokens with what is known of them and no more: there may be thousands, and a browser keeps only so much. */
const slim = (tokens) =>
  tokens.map(({ id: _, instead: __, ...token }) => {
    const known = Object.entries(token).filter(([, value]) => value !== null && value !== false);
    return Object.fromEntries(known.map(([name, value]) => [name, ["fill", "keep"].includes(name) ? Number(value.toPrecision(4)) : value]));
  });

const worthKeeping = ({ space, now }) => ({ space, now: { ...now, doc: { ...now.doc, tokens: slim(now.doc.tokens) }, turn: -1 } });

/** Tokens that were kept, under numbers that no other has. */
const renumbered = (tokens) => tokens.map((token) => newToken(token.token, token.piece, token));

export class Sentences {
  /** What the list on the page shows of each sentence, and its button; a keystroke changes one of hundreds. */
  #shown = [];
  /** What is kept of a sentence, as JSON: one that does not change is spelt once. */
  #spelt = new WeakMap();

  constructor(session) {
    this.session = session;
  }

  get many() {
    return this.session.sentences.length > 1;
  }

  /** Whole texts: of the drafts, or of what `read` gives for a sentence. */
  text(read = ({ now }) => textOf(now.doc)) {
    return this.session.sentences.map((one) => read(one) + one.space).join("").trimEnd();
  }

  /** Put sentences back that were kept. */
  reopen(kept, at) {
    const sentences = kept.map(({ space, now }) => {
      const doc = { ...now.doc, tokens: renumbered(now.doc.tokens) };
      return { ...blank(""), space, now: { ...now, doc } };
    });
    this.session.begin(sentences, at);
  }

  /** What is worth keeping. */
  get kept() {
    return this.session.sentences.map(worthKeeping);
  }

  /** The same as JSON. */
  get keptJson() {
    const spell = (sentence) => {
      if (!this.#spelt.has(sentence)) this.#spelt.set(sentence, JSON.stringify(worthKeeping(sentence)));
      return this.#spelt.get(sentence);
    };
    return `[${this.session.sentences.map(spell).join(",")}]`;
  }

  go(i) {
    if (i === this.session.at || i < 0 || i >= this.session.sentences.length) return false;
    this.session.go(i);
    return true;
  }

  /** One text again, with all drafts in a row. */
  join() {
    const all = this.session.sentences;
    const source = this.text(({ now }) => now.source);
    const synced = this.text(({ now }) => now.synced);
    const doc = inARow(all.map(({ now }) => now.doc));
    const terms = [...new Set(all.flatMap(({ now }) => now.terms))];
    const bans = [...new Map(all.flatMap(({ now }) => now.bans.map((ban) => [ban.text, ban]))).values()];
    const turns = all.flatMap((one) => one.turns);
    const gestures = all.flatMap((one) => one.gestures);
    this.session.exchange("joined the sentences", [{ ...blank(source, { doc, terms, bans, synced }), turns, gestures }]);
  }

  /** Show the list; `choose(i)` hears which one was pressed. */
  show(choose) {
    hide(byId("sentences"), !this.many, () => byId("source"));
    if (!this.many) return;
    const list = byId("sentence-list");
    const focused = list.contains(document.activeElement);
    const wanted = this.session.sentences.map(({ now }, i) => ({ source: now.source, done: now.doc.tokens.length > 0, current: i === this.session.at }));
    const before = this.#shown;
    const as = (one, i) => before[i]?.source === one.source && before[i].done === one.done && before[i].current === one.current;
    const anew = before.length !== wanted.length;
    if (!anew && wanted.every(as)) return;
    this.#shown = wanted.map((one, i) => (!anew && as(one, i) ? before[i] : { ...one, item: item(one, i, choose) }));
    if (anew) list.replaceChildren(...this.#shown.map((one) => one.item));
    else this.#shown.forEach((one, i) => one === before[i] || before[i].item.replaceWith(one.item));
    const { item: here } = this.#shown[this.session.at];
    if (focused && !list.contains(document.activeElement)) here.firstChild.focus();
    if (!anew && before[this.session.at].current) return;
    const { offsetLeft: left, offsetWidth: width } = here;
    list.scrollLeft = Math.max(left - list.offsetLeft - (list.clientWidth - width) / 2, 0);
  }
}

/** A sentence in the list. */
function item({ source, done, current }, i, choose) {
  const label = `Sentence ${i + 1}: ${visible(source)}${done ? "" : ", no draft yet"}`;
  const button = element("button", { type: "button", "aria-label": label, "aria-current": current ? "true" : null, title: source, onclick: () => choose(i) }, `${i + 1}. `, element("bdi", { lang: byId("source").lang }, visible(source)));
  return element("li", {}, button);
}
