// What the page says: what happened (for everyone, also read aloud), and what went wrong with a way out.

import { byId } from "./dom.js";

let retry = null;
let drop = null;

/** Say something in passing: on the page and in the live region. */
export function say(text, { seen = true } = {}) {
  const live = byId("live");
  // The same words twice would not be read aloud twice.
  live.textContent = live.textContent === text ? `${text}\u00a0` : text;
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

/** Show an error kindly; `again` is what “Try again” does, `giveUp` what “Close” does besides, `more` what to say too. */
export function complain(error, again = null, { giveUp = null, more = "" } = {}) {
  const message = error.message || String(error);
  byId("notice-text").textContent = [KIND[error.type], message, more].filter(Boolean).join(" ");
  byId("notice-hint").textContent =
    error.hint ?? (error.retryAfter ? `Try again in ${error.retryAfter} s.` : "Your work is safe in this tab.");
  byId("notice-retry").hidden = again === null;
  [retry, drop] = [again, giveUp];
  byId("notice").hidden = false;
}

export function settle() {
  byId("notice").hidden = true;
}

export function setUpNotices() {
  byId("notice-close").addEventListener("click", () => {
    settle();
    drop?.();
  });
  byId("notice-retry").addEventListener("click", () => {
    settle();
    retry?.();
  });
}
