// The page, drawn from the session and the model's turn; each change, one render.

import { byId, switchOff } from "./dom.js";
import { hide } from "./focus.js";
import { draft } from "./gestures.js";
import { splitOffer } from "./one_by_one.js";
import { closePopover, isAnchor } from "./popover.js";
import { showSource } from "./source_field.js";
import { player, story, turn } from "./stage.js";
import { showSteering } from "./steering.js";
import { whole } from "./whole_text.js";
import { hasDraft, session } from "./work.js";

/** Sentences of a longer source are not counted at every letter. */
const LONG = 2000;

/** `typed`: what changed is a letter of the source. */
export function render({ typed = false } = {}) {
  const { now } = session;
  const { busy } = turn;
  showSource();
  draft.render(now.doc, { fresh: fresh() });
  showSteering(now);
  // A draft of one's own may never have been one of any source.
  const stale = now.synced !== "" && hasDraft() && now.source !== now.synced;
  byId("source-note").textContent = stale ? "The source has changed since the draft." : "";
  byId("continue").textContent = stale ? "Re-sync" : "Continue";
  byId("continue").classList.toggle("primary", hasDraft());
  byId("translate").classList.toggle("primary", !hasDraft());
  const still = busy || !whole.hidden;
  switchOff(byId("undo"), still || !session.canUndo);
  switchOff(byId("redo"), still || !session.canRedo);
  rest(busy);
  for (const id of ["translate", "step", "as-text", "take"]) switchOff(byId(id), busy);
  switchOff(byId("continue"), busy || (!hasDraft() && whole.hidden));
  if (!typed || now.source.length < LONG) showSplit();
  hide(byId("stop"), !busy, () => byId(hasDraft() ? "continue" : "translate"));
  byId("draft").setAttribute("aria-busy", String(busy));
  if (!busy && player.isNow) player.onShow(null);
}

/** While the model is at work, nobody is in the draft: who was there waits where it is told how far it is. */
function rest(busy) {
  const [root, status] = [byId("draft"), byId("status")];
  // Whoever is quick has opened a menu since the model was asked: what is chosen there would be lost.
  if (busy && draft.items.some(({ button }) => isAnchor(button))) closePopover();
  if (busy && root.contains(document.activeElement)) status.focus({ preventScroll: true });
  root.inert = busy;
  if (!busy && document.activeElement === status) draft.focus();
}

/** The tokens that are new since the model's last turn. */
function fresh() {
  const frames = story();
  const old = new Set(frames[0]?.tokens.map((token) => token.id));
  if (!old.size) return new Set();
  return new Set(frames.at(-1).tokens.map((token) => token.id).filter((id) => !old.has(id)));
}

/** Offer to translate sentences one by one, where there are several. */
export function showSplit() {
  const { there, text } = splitOffer();
  hide(byId("split"), turn.busy || !whole.hidden || !there, () => byId("source"));
  byId("split").textContent = text;
}
