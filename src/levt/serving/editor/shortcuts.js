// The shortcuts that hold everywhere, and the table of all of them for the help page.

import { element } from "./dom.js";
import { isCovered } from "./focus.js";

/** What the help page lists: keys, and what they do. */
export const TABLE = [
  ["By hand", null],
  ["Press a word", "Keep it, cross it out, edit it, ban it, or take what could stand there instead"],
  ["Press a gap", "Say how many words are missing there, or take one that the model suggests"],
  ["Press twice", "Write over a word"],
  ["Move the slider", "Look at every iteration again, and go on from any of them"],
  ["In the draft", null],
  ["← · →", "To the gap or word beside; with Shift, from word to word"],
  ["Home · End", "To the beginning · end"],
  ["Space or ↑ on a word", "Keep it, or let it go"],
  ["Delete on a word", "Cross it out, or take that back"],
  ["Enter or ↓ on a word", "All choices, and what could stand there instead"],
  ["↑ · ↓ in a gap", "Ask for one word more · fewer"],
  ["Enter in a gap", "All choices, and what could stand there"],
  ["Letters, or F2", "Write over a word, or in a gap; Enter when done, Escape to leave it"],
  ["Everywhere", null],
  ["Ctrl Enter", "Translate; with a draft, continue around what you fixed"],
  ["Ctrl Shift Enter", "Translate from nothing"],
  ["Alt Enter", "One step: a single round of deleting, opening and filling"],
  ["Escape", "Stop the model; close what is open"],
  ["Ctrl Z · Ctrl Shift Z", "Undo · redo"],
  ["Alt W · Alt S", "Go to the words of the draft · to the source"],
  ["Alt T", "Edit the draft as text, and back"],
  ["Alt C", "Copy the draft"],
  ["Alt PageUp · Alt PageDown", "Sentence before · after"],
  ["Alt ← · Alt →", "Iteration before · after"],
  ["F1", "This page"],
];

const inText = (target) => target.matches?.("textarea, input:not([type=range]):not([type=checkbox])");

/** Listen for shortcuts; `does` has a function for each name. */
export function setUpShortcuts(does) {
  addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    const ctrl = event.ctrlKey || event.metaKey;
    const { key, shiftKey: shift, altKey: alt, code } = event;
    let act = null;
    if (key === "Enter" && ctrl) act = shift ? does.translate : does.goOn;
    else if (key === "Enter" && alt) act = does.step;
    else if (key === "F1") act = does.help;
    else if (key === "Escape") act = does.stop;
    else if (ctrl && !alt && code === "KeyZ" && !inText(event.target)) act = shift ? does.redo : does.undo;
    else if (ctrl && !alt && code === "KeyY" && !inText(event.target)) act = does.redo;
    else if (alt && !ctrl && !shift) {
      act = { KeyW: does.toDraft, KeyS: does.toSource, KeyT: does.asText, KeyC: does.copy }[code];
      act ??= { PageUp: does.sentenceBefore, PageDown: does.sentenceAfter }[key];
      if (!inText(event.target)) act ??= { ArrowLeft: does.earlier, ArrowRight: does.later }[key];
    } else if (key === "?" && !inText(event.target) && !event.target.closest?.("#draft")) act = does.help;
    // What lies over the page has keys of its own, and the browser is not to do behind it what the page does not.
    if (isCovered() ? act === does.stop : !act || act(event) === false) return;
    if (act) event.preventDefault();
  });
}

export function shortcutTable() {
  const key = /^(←|→|↑|↓|[A-Z]|F\d+|Ctrl|Alt|Shift|Enter|Escape|Space|Delete|Home|End|PageUp|PageDown)$/;
  const keys = (text) => text.split(" ").flatMap((part) => [key.test(part) ? element("kbd", {}, part) : part, " "]);
  return element(
    "table",
    {},
    ...TABLE.map(([text, meaning]) =>
      meaning === null
        ? element("tr", {}, element("th", { colSpan: 2, scope: "rowgroup" }, text))
        : element("tr", {}, element("td", {}, ...keys(text)), element("td", {}, meaning)),
    ),
  );
}
