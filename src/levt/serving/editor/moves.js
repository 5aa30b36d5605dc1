// To another sentence, and back and forth between what was done.

import { followNot } from "./asking.js";
import { draft } from "./gestures.js";
import { say, settle } from "./notices.js";
import { closePopover } from "./popover.js";
import { turn } from "./stage.js";
import { whole, written } from "./whole_text.js";
import { sentences, session } from "./work.js";

export async function goTo(i) {
  if (turn.busy) return;
  closePopover({ back: false });
  followNot();
  if (!(await written()) || !sentences.go(i)) return;
  // What failed there is not to be tried again here.
  settle();
  say(`Sentence ${i + 1}.`);
}

export async function join() {
  if (turn.busy) return;
  if (!(await written())) return;
  settle();
  sentences.join();
  draft.focus();
}

/** Undo or redo. */
export async function move(direction) {
  if (turn.busy || !whole.hidden) return;
  closePopover({ back: false });
  followNot();
  if (!(await written())) return;
  const [at, count] = [session.at, session.sentences.length];
  const label = session[direction]();
  if (!label) return;
  const other = session.sentences.length !== count;
  const where = session.at !== at && !other ? ` in sentence ${session.at + 1}` : "";
  // What failed there is not to be tried again here.
  if (where || other) settle();
  say(`${direction === "undo" ? "Undone" : "Done again"}${where}: ${label}.`);
}
