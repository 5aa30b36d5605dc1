// The field of the source: every letter goes into the session, and the draft may follow.

import { followSoon } from "./asking.js";
import { byId } from "./dom.js";
import { session } from "./work.js";

const source = byId("source");

export function setUpSource() {
  source.addEventListener("input", () => {
    session.typeSource(source.value);
    followSoon();
  });
}

export function showSource() {
  if (source.value !== session.now.source) source.value = session.now.source;
}
