// What is taken away: the text to the clipboard, or a file.

import { element } from "./dom.js";
import { say } from "./notices.js";
import { inOrder } from "./order.js";
import { closePopover, openPopover } from "./popover.js";
import { download, sessionHtml, sessionJson } from "./share.js";
import { written } from "./whole_text.js";
import { api, sentences } from "./work.js";

export const copy = () => inOrder(async () => {
  if (!(await written())) return;
  const text = sentences.text();
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser did not allow copying: choose “Edit as text” and copy from there.");
  }
});

export const save = ({ currentTarget: button }) => inOrder(async () => {
  if (!(await written())) return;
  const pick = (text, note, act) =>
    element("button", { type: "button", className: "pick", onclick: () => (closePopover(), act()) }, element("strong", {}, text), element("span", { className: "faint" }, note));
  const model = api.model?.name ?? "";
  openPopover(
    button,
    "Save",
    element(
      "div",
      { className: "picks" },
      pick("Trace", "JSON: every edit with its probability", () => download("levt-trace.json", "application/json", `${JSON.stringify(sessionJson(sentences, model), null, 1)}\n`)),
      pick("Session", "HTML: one page to share, without scripts", () => download("levt-session.html", "text/html", sessionHtml(sentences, model))),
      pick("Text", "Only the draft", () => download("levt-draft.txt", "text/plain", `${sentences.text()}\n`)),
    ),
  );
});
