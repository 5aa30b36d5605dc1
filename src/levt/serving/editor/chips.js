// A list of short texts with a field to add one: terms, and words that must not appear. Knows no model.

import { byId, element } from "./dom.js";

/** `onAdd(text)` and `onRemove(index)` hear what the person does. Gives a function that shows a list. */
export function chips({ list, field, button, onAdd, onRemove }) {
  const input = byId(field);
  const add = () => {
    const text = input.value.trim();
    input.value = "";
    if (text) onAdd(text);
  };
  byId(button).addEventListener("click", () => (add(), input.focus()));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    add();
    // With Ctrl or Alt it goes on to the shortcuts.
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.preventDefault();
  });
  // Who goes on without pressing anything means what was typed.
  input.addEventListener("change", add);
  return (texts, missing = () => false) => {
    byId(list).replaceChildren(
      ...texts.map((text, i) =>
        element(
          "li",
          { className: missing(text) ? "missing" : "" },
          element("span", { dir: "auto", lang: input.lang }, text),
          missing(text) ? element("span", { className: "faint" }, " not yet") : null,
          element("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => (onRemove(i), input.focus()) }, "×"),
        ),
      ),
    );
  };
}
