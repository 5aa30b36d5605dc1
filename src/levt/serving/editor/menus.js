// What can be done with a word and with a gap, as parts of a popover. Knows no document.

import { byId, element, percent } from "./dom.js";
import { sentence } from "./notices.js";
import { visible } from "./pieces.js";
import { closePopover, openPopover, place } from "./popover.js";

const LONGEST = 3;

/** A button that does something and closes the popover. */
const choice = (text, act, more = {}) =>
  element("button", { type: "button", ...more, onclick: () => (closePopover(), act()) }, text);

/** The list of alternatives; `find(placeholders, signal)` asks for them, `take` uses one. */
function alternatives(title, find, take) {
  const list = element("ul", { className: "alternatives", "aria-label": title });
  const note = element("p", { className: "faint", role: "status" }, "Asking the model …");
  const size = element("div", { className: "group", role: "group", "aria-label": "Pieces per alternative" });
  let signal = null;
  let asked = 0;

  const load = async (placeholders) => {
    const mine = (asked += 1);
    note.textContent = "Asking the model …";
    note.hidden = false;
    for (const button of size.children) button.setAttribute("aria-pressed", button.value === String(placeholders));
    try {
      const { current, found } = await find(placeholders, signal);
      if (mine !== asked || signal.aborted) return;
      list.replaceChildren(...found.map((one) => element("li", {}, row(one, take))));
      note.textContent = found.length ? "" : "The model has no other word here.";
      if (current !== null) note.textContent = `What stands there now: ${percent(current)}`;
      note.hidden = !note.textContent;
    } catch (error) {
      if (signal.aborted || mine !== asked) return;
      list.replaceChildren();
      note.textContent = [error.message, error.hint].filter(Boolean).map(sentence).join(" ");
    }
    place();
  };
  for (let n = 1; n <= LONGEST; n += 1) {
    size.append(
      element("button", { type: "button", value: String(n), "aria-pressed": "false", "aria-label": `${n} ${n === 1 ? "piece" : "pieces"}`, onclick: () => load(n) }, String(n)),
    );
  }
  const head = element("div", { className: "row" }, element("h3", {}, title), element("span", { className: "faint", title: "A long word is made of two or three" }, "pieces"), size);
  return {
    part: element("div", { className: "ask-model" }, head, list, note),
    start(given) {
      signal = given;
      load(1);
    },
  };
}

function row(one, take) {
  const bar = element("span", { className: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", one.probability);
  const button = choice("", () => take(one), { className: "alternative" });
  button.append(
    element("span", { className: "what", dir: "auto", lang: byId("whole").lang }, one.shown),
    bar,
    element("span", { className: "faint" }, percent(one.probability)),
  );
  return button;
}

/** `on`: keep, cross, edit, ban, find, take. */
export function wordMenu(anchor, word, on) {
  const others = alternatives("Instead", on.find, on.take);
  const sure = word.confidence === null || word.mine ? "your own word" : `the model was ${percent(word.confidence)} sure`;
  const signal = openPopover(
    anchor,
    `“${visible(word.text)}”`,
    element("p", { className: "faint" }, word.locked && !word.mine ? `kept; ${sure}` : sure),
    element(
      "div",
      { className: "choices" },
      choice(word.locked ? "Let go" : "Keep", on.keep, { className: "keep" }),
      choice(word.drop ? "Take back" : "Cross out", on.cross, { className: "cross" }),
      choice("Edit", on.edit, { className: "edit" }),
      choice("Never use", on.ban, { className: "ban", title: "Cross it out, and do not write it again" }),
    ),
    others.part,
  );
  others.start(signal);
}

/** `on`: ask(count or null), edit, find, take. */
export function gapMenu(anchor, gap, most, on) {
  const number = element("input", { type: "number", min: "1", max: String(most), value: String(gap.count || 4), inputMode: "numeric", "aria-label": "How many words" });
  const askNumber = () => {
    const count = Math.min(Math.max(Math.round(Number(number.value)) || 1, 1), most);
    closePopover();
    on.ask(count);
  };
  number.addEventListener("keydown", (event) => {
    if (event.key === "Enter") askNumber();
  });
  const others = alternatives("Put here", on.find, on.take);
  const signal = openPopover(
    anchor,
    "Words here",
    element("p", { className: "faint" }, "How many words the model is to write in this gap:"),
    element(
      "div",
      { className: "choices" },
      choice("One", () => on.ask(1)),
      choice("Two", () => on.ask(2)),
      choice("None", () => on.ask(0), { title: "Nothing may come here" }),
      choice("As it likes", () => on.ask(null), { disabled: gap.count === null }),
    ),
    element("div", { className: "row" }, number, element("button", { type: "button", className: "ask-n", onclick: askNumber }, "Ask for so many"), choice("Type here", on.edit, { className: "edit" })),
    others.part,
  );
  others.start(signal);
}
