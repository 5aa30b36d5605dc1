// What the page says: what happened (for everyone, also read aloud), and what went wrong with a way out.

import { byId, element } from "./dom.js";

let retry = null;
let drop = null;
/** Where the focus was before it came to the notice. */
let before = null;

/**
 * Say something in passing: on the page, and in the one live region of it, so that it is read aloud once. `read` is
 * a text in the language of the draft, which is read aloud behind it; the page has it elsewhere.
 */
export function say(text, { seen = true, read = "" } = {}) {
  const live = byId("live");
  const before = live.textContent;
  live.replaceChildren(text, ...(read ? [" ", element("span", { lang: byId("whole").lang }, read)] : []));
  // The same words twice would not be read aloud twice.
  if (live.textContent === before) live.append("\u00a0");
  if (seen) byId("status").textContent = text;
}

const KIND = {
  queue_full: "The server is busy.",
  shutting_down: "The server is going down.",
  not_ready: "The model is still being loaded.",
  deadline_exceeded: "This took too long.",
  unknown_model: "The server has another model now: reload this page to go on with it.",
  unauthorised: "The server did not accept the token.",
  internal: "Something went wrong on the server.",
};

/** A message as a sentence: servers write them small, and without an end. A name in it is left as it is. */
export const sentence = (text) => text.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase()).replace(/[^.!?…”]$/, "$&.");

/** Show an error kindly; `again` is what “Try again” does, `giveUp` what “Close” does besides, `more` what to say too. */
export function complain(error, again = null, { giveUp = null, more = "" } = {}) {
  const message = error.message || String(error);
  byId("notice-text").textContent = [KIND[error.type], sentence(message), more].filter(Boolean).join(" ");
  const way = error.retryAfter ? `Try again in ${error.retryAfter} s.` : "Your work is safe in this tab.";
  byId("notice-hint").textContent = sentence(error.hint ?? way);
  byId("notice-retry").hidden = again === null;
  [retry, drop] = [again, giveUp];
  byId("notice").hidden = false;
}

export function settle() {
  const held = byId("notice").contains(document.activeElement);
  byId("notice").hidden = true;
  if (!held) return;
  before?.focus();
  // It may be gone, or out of use.
  if (document.activeElement !== before) byId("source").focus();
}

/** What could be tried again has been done: hide the error that offered it. */
export const settled = (again) => retry === again && !byId("notice").hidden && settle();

export function setUpNotices() {
  byId("notice").addEventListener("focusin", ({ relatedTarget }) => {
    if (!byId("notice").contains(relatedTarget)) before = relatedTarget;
  });
  byId("notice-close").addEventListener("click", () => {
    settle();
    drop?.();
  });
  byId("notice-retry").addEventListener("click", () => {
    settle();
    retry?.();
  });
}
