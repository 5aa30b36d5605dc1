// To another sentence, and back and forth between what was done.

import { followNot } from "./asking.js";
import { documentOf } from "./document.js";
import { draft } from "./gestures.js";
import { say, settle } from "./notices.js";
import { inOrder } from "./order.js";
import { closePopover } from "./popover.js";
import { player, turn } from "./stage.js";
import { whole, written } from "./whole_text.js";
import { sentences, session } from "./work.js";

/** `which()` gives the number of the sentence, once what was asked for before is done. */
export const goTo = (which) => inMotion(async () => {
  const i = which();
  if (!(await alone()) || !sentences.go(i)) return;
  // What failed there is not to be tried again here.
  settle();
  say(`Sentence ${i + 1}.`);
});

/** Write down what was typed; a menu that was opened meanwhile is closed: its word is left. Gives whether all is written. */
async function alone() {
  const done = await written();
  if (done) closePopover({ back: false });
  return done;
}

export const join = () => inMotion(async () => {
  if (!(await alone()) || !sentences.many) return;
  settle();
  sentences.join();
  draft.focus();
});

/** Undo or redo. */
export const move = (direction) => inMotion(async () => {
  if (!whole.hidden || !(await alone())) return;
  const [at, count] = [session.at, session.sentences.length];
  const label = session[direction]();
  if (!label) return;
  const other = session.sentences.length !== count;
  const where = session.at !== at && !other ? ` in sentence ${session.at + 1}` : "";
  // What failed there is not to be tried again here.
  if (where || other) settle();
  say(`${direction === "undo" ? "Undone" : "Done again"}${where}: ${label}.`);
});

/** Go on from an iteration. */
export function goBackTo(i) {
  const [{ tokens }, where] = [player.frames[i], player.describe(i).split(":")[0].toLowerCase()];
  return inMotion(async () => {
    if (!(await alone())) return;
    session.commit(`went back to ${where}`, { doc: documentOf(tokens) });
    player.seek(player.frames.length);
    draft.focus();
  });
}

/** Behind what was asked for before, and not while the model is at work. */
function inMotion(act) {
  followNot();
  return inOrder(() => {
    if (turn.busy) return;
    closePopover({ back: false });
    return act();
  });
}
