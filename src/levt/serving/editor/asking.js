// The model is asked: by a button, by a key, or a moment after the source was changed.

import { byId } from "./dom.js";
import { isCovered } from "./focus.js";
import { draft } from "./gestures.js";
import { apart, makeList } from "./one_by_one.js";
import { inOrder } from "./order.js";
import { closePopover, isOpen } from "./popover.js";
import { turn } from "./stage.js";
import { whole, written } from "./whole_text.js";
import { api, hasDraft, session } from "./work.js";

const FOLLOW_AFTER = 900;
const source = byId("source");
let following = null;
let composing = false;
let meet = () => {};

/** Let the model take a turn; without an action, the one that fits: go on, or begin. */
export function run(action = null) {
  followNot();
  return inOrder(() => begin(action));
}

async function begin(action) {
  // What is translated one by one is stopped only by Stop: another turn would end up in one of the sentences.
  if (source.readOnly) return;
  closePopover({ back: false });
  // The server may not have been there when the page was opened.
  if (!api.limits) await meet();
  // Last, for somebody may have typed while one waited for that.
  if (!api.limits || !(await written())) return;
  const wanted = action ?? (hasDraft() ? "continue" : "translate");
  // Line breaks would come into the draft, where nobody could see them; between sentences they are kept.
  const lines = wanted === "translate" && apart().some(({ space }) => /[\n\r\u2028\u2029]/.test(space));
  // What is asked for next need not wait for the end of the turn.
  if (lines) void makeList();
  else void turn[wanted]().then((done) => done && followSoon());
}

/** Let the draft follow the source in a moment, if nobody types on. */
export function followSoon() {
  followNot();
  if (byId("follow").checked && hasDraft() && source.value.trim()) following = setTimeout(follow, FOLLOW_AFTER);
}

function follow() {
  if (session.now.source === session.now.synced || !byId("follow").checked) return;
  // Whoever chooses or writes a word, or a character of several keys, is not interrupted.
  if (composing || draft.input || !whole.hidden || isOpen() || isCovered()) followSoon();
  else run("continue");
}

export const followNot = () => clearTimeout(following);

/** `ask` gets to know the server. */
export function setUpAsking(ask) {
  meet = ask;
  turn.again = run;
  source.addEventListener("compositionstart", () => (composing = true));
  source.addEventListener("compositionend", () => (composing = false));
}
