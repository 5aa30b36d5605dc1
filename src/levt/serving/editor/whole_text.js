// The draft as one text: a field in its place, from which it is read again. Knows nothing of what the model does.

import { textOf } from "./document.js";
import { byId } from "./dom.js";
import { draft } from "./gestures.js";
import { player, turn } from "./stage.js";
import { write, writeAll } from "./typed.js";
import { session } from "./work.js";

export const whole = byId("whole");
let toggled = () => {};

/** `listener` hears when the field has been opened or closed. */
export const onToggle = (listener) => (toggled = listener);

/** What is typed into the draft is written down before anything else is done with it; gives whether it could be. */
export async function written() {
  draft.input?.blur();
  if (!whole.hidden) await toggleWhole();
  return whole.hidden && writeAll();
}

export async function toggleWhole() {
  if (turn.busy) return;
  const open = whole.hidden;
  if (open) {
    if (!(await written())) return;
    player.seek(player.frames.length);
    whole.value = textOf(session.now.doc);
  } else {
    // A first draft is there to be improved; a correction of one is there to stay.
    const first = session.now.doc.tokens.length === 0;
    const label = first ? "gave a draft" : "edited the draft as text";
    if (!(await write({ read: () => whole.value, label, keep: !first, again: toggleWhole }))) return;
  }
  whole.hidden = !open;
  byId("as-text").setAttribute("aria-pressed", String(open));
  byId("as-text").textContent = open ? "Done" : "Edit as text";
  toggled();
  if (open) whole.focus();
  else draft.focus();
}
