// The draft as one text: a field in its place, from which it is read again. Knows nothing of what the model does.

import { textOf } from "./document.js";
import { byId } from "./dom.js";
import { stay } from "./focus.js";
import { draft } from "./gestures.js";
import { complain, settled } from "./notices.js";
import { inOrder } from "./order.js";
import { closePopover } from "./popover.js";
import { player, turn } from "./stage.js";
import { addTyped, isTyped } from "./steering.js";
import { rewrite, writeAll } from "./typed.js";
import { session } from "./work.js";

export const whole = byId("whole");
let toggled = () => {};

/** `listener` hears when the field has been opened or closed. */
export const onToggle = (listener) => (toggled = listener);

/** What is typed is written down before anything else is done; gives whether it could be. */
export async function written() {
  do {
    draft.endTyping();
    addTyped();
    if (!whole.hidden) await close();
    if (!whole.hidden || !(await writeAll())) return false;
    // Somebody may have begun to type again meanwhile.
  } while (draft.input || isTyped());
  return true;
}

export const toggleWhole = () => inOrder(() => (turn.busy ? null : whole.hidden ? open() : close()));

async function open() {
  closePopover();
  const stays = stay();
  if (!(await written())) return;
  // One that was opened meanwhile lies over the text.
  closePopover();
  player.seek(player.frames.length);
  whole.value = textOf(session.now.doc);
  show(true);
  if (stays()) whole.focus();
}

/** Put back a text that was being edited. */
export function reopen(text) {
  whole.value = text;
  show(true);
  whole.focus();
}

async function close() {
  // A first draft is there to be improved; a correction of one is there to stay.
  const first = session.now.doc.tokens.length === 0;
  const label = first ? "gave a draft" : "edited the draft as text";
  try {
    // Somebody may type on while the server looks the text up.
    for (let text = null; text !== whole.value; ) {
      text = whole.value;
      await rewrite({ read: () => text, label, keep: !first });
    }
  } catch (error) {
    return complain(error, toggleWhole);
  }
  settled(toggleWhole);
  const here = [whole, byId("as-text"), document.body].includes(document.activeElement);
  show(false);
  if (here) draft.focus();
}

function show(there) {
  whole.hidden = !there;
  byId("as-text").setAttribute("aria-pressed", String(there));
  byId("as-text").textContent = there ? "Done" : "Edit as text";
  player.rest(there);
  toggled();
}
