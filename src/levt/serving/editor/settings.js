// The dials, and what else is set for the model's turns. Knows no model.

import { byId } from "./dom.js";

const SETTINGS = ["dial", "length", "iterations"];

function showDials() {
  const dial = Number(byId("dial").value);
  const length = Number(byId("length").value);
  const told = dial === 0 ? "off" : dial === 1 ? "edit nothing" : `only edits above ${Math.round(50 * (1 + dial))} %`;
  byId("dial-value").textContent = told;
  byId("dial").setAttribute("aria-valuetext", told);
  byId("length-value").textContent = length > 0 ? `+${length}` : String(length);
}

/** What is set, as the server takes it. */
export const options = () => ({
  min_edit: Number(byId("dial").value),
  empty_gap_penalty: Number(byId("length").value),
  max_iterations: Math.min(Math.max(Math.round(Number(byId("iterations").value)) || 1, 1), Number(byId("iterations").max)),
});

/** What is set, for `set`. */
export const settings = () => ({ follow: byId("follow").checked, ...Object.fromEntries(SETTINGS.map((id) => [id, byId(id).value])) });

export function set({ follow = true, ...values }) {
  byId("follow").checked = follow;
  for (const id of SETTINGS) byId(id).value = values[id] ?? byId(id).defaultValue;
  showDials();
}

/** Listen to the dials; `onSet` hears when something is set. */
export function setUpSettings(onSet) {
  for (const id of ["dial", "length"]) byId(id).addEventListener("input", showDials);
  // What is shown is what is meant.
  byId("iterations").addEventListener("change", () => (byId("iterations").value = options().max_iterations));
  for (const id of ["follow", ...SETTINGS]) byId(id).addEventListener("change", onSet);
}
