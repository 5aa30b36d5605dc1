// The work is kept for a reload of the tab, at once or when no key has been pressed for a moment.

import { draft } from "./gestures.js";
import { byId } from "./dom.js";
import { complain } from "./notices.js";
import { remember } from "./remember.js";
import { settings } from "./settings.js";
import { keptTyping, onWaiting, resumeTyping } from "./typed.js";
import { whole } from "./whole_text.js";
import { api, sentences, session } from "./work.js";

/** Milliseconds after a keystroke in which what takes time with long texts waits. */
const PAUSE = 250;

/** Where something may stand that is not yet part of the work. */
const FIELDS = ["term", "ban"];

let safe = true;
let pause = () => {};
let storing = null;

/** Keep the work when no key has been pressed for a moment; a tab that is left keeps it before. */
export function storeSoon() {
  clearTimeout(storing);
  storing = setTimeout(() => (pause(), store()), PAUSE);
}

/** Keep the work; the first time that it cannot be kept, say so. */
export function store() {
  clearTimeout(storing);
  storing = null;
  const before = safe;
  const fields = FIELDS.map((id) => byId(id).value);
  const rest = JSON.stringify({ model: api.model, at: session.at, whole: whole.hidden ? null : whole.value, typing: keptTyping(draft.typing), fields, settings: settings() });
  safe = remember(`{"sentences":${sentences.keptJson},${rest.slice(1)}`);
  if (before && !safe) complain({ message: "The browser cannot keep so long a text: what you do from now on would not survive a reload.", hint: "Save it before you close or reload this tab." });
}

/** Put back what was being typed. */
export function resume({ typing, fields }) {
  resumeTyping(typing ?? []);
  FIELDS.forEach((id, i) => (byId(id).value = fields?.[i] ?? ""));
}

/** `onPause` does what else waits until no key is pressed. */
export function setUpKeeping(onPause) {
  pause = onPause;
  const now = () => storing !== null && store();
  addEventListener("pagehide", now);
  document.addEventListener("visibilitychange", () => document.hidden && now());
  for (const id of ["draft", ...FIELDS]) byId(id).addEventListener("input", storeSoon);
  onWaiting(storeSoon);
}
