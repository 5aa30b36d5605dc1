// The model is asked: by a button, by a key, or a moment after the source was changed.

import { byId } from "./dom.js";
import { draft } from "./gestures.js";
import { apart, oneByOne } from "./one_by_one.js";
import { closePopover } from "./popover.js";
import { turn } from "./stage.js";
import { banned } from "./steering.js";
import { toggleWhole, whole, written } from "./whole_text.js";
import { hasDraft, session } from "./work.js";

const FOLLOW_AFTER = 900;
const source = byId("source");
let following = null;

/** Let the model take a turn; without an action, the one that fits: go on, or begin. */
export async function run(action = null) {
  followNot();
  // What is translated one by one is stopped only by Stop: another turn would end up in one of the sentences.
  if (source.readOnly) return;
  closePopover({ back: false });
  if (!whole.hidden) await toggleWhole();
  const back = byId("draft").contains(document.activeElement);
  if (!whole.hidden || !(await written())) return;
  await banned();
  const wanted = action ?? (hasDraft() ? "continue" : "translate");
  // Line breaks would come into the draft, where nobody could see them; between sentences they are kept.
  const lines = wanted === "translate" && apart().some(({ space }) => /[\n\r\u2028\u2029]/.test(space));
  if (lines) return oneByOne();
  await turn[wanted]();
  if (back) draft.focus();
}

/** Let the draft follow the source in a moment, if nobody types on. */
export function followSoon() {
  followNot();
  if (byId("follow").checked && hasDraft() && source.value.trim()) {
    following = setTimeout(() => session.now.source !== session.now.synced && whole.hidden && !draft.input && run("continue"), FOLLOW_AFTER);
  }
}

export const followNot = () => clearTimeout(following);
