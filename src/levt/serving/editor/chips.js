// A list of short texts with a field to add one: terms, and words that must not appear. Knows no model.

import { byId, element } from "./dom.js";
import { letGo } from "./pointer.js";

/** `onAdd(text)` and `onRemove(index)` hear what the person does. Gives `show`, and `add` and `isTyped` for what stands in the field. */
export function chips({ list, field, button, onAdd, onRemove }) {
  const input = byId(field);
  let shown = "";
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
  // Who goes on without pressing anything means what was typed; who only looks into another window will type on.
  input.addEventListener("blur", async () => {
    await letGo();
    if (document.activeElement !== input) add();
  });
  const remove = (text, i) =>
    element("button", { type: "button", "aria-label": `Remove ${text}`, onclick: () => (onRemove(i), input.focus()) }, "×");
  const show = (texts, missing = () => false) => {
    const wanted = JSON.stringify([input.lang, texts.map((text) => [text, missing(text)])]);
    if (wanted === shown) return;
    shown = wanted;
    const at = [...byId(list).querySelectorAll("button")].indexOf(document.activeElement);
    byId(list).replaceChildren(
      ...texts.map((text, i) =>
        element(
          "li",
          { className: missing(text) ? "missing" : "" },
          element("span", { dir: "auto", lang: input.lang }, text),
          missing(text) ? element("span", { className: "faint" }, " not yet") : null,
          remove(text, i),
        ),
      ),
    );
    if (at !== -1) (byId(list).querySelectorAll("button")[Math.min(at, texts.length - 1)] ?? input).focus();
  };
  return { show, add, isTyped: () => input.value.trim() !== "" };
}
