// The session: what is on the page, with undo and redo, and the list of the model's turns. Knows no page.

import { EMPTY } from "./document.js";

const START = Object.freeze({ source: "", synced: "", doc: EMPTY, terms: [], bans: [], turn: -1 });
const DEPTH = 500;

/** A session as `snapshot` gives it, in which nothing has happened. */
export const blank = (source, more = {}) => ({ now: { ...START, source, ...more }, turns: [], gestures: [], past: [], future: [] });

export class Session {
  #past = [];
  #future = [];
  #listeners = [];

  now = START;
  /** The model's turns, also those undone: {action, source, gestures, result, frames}. */
  turns = [];
  /** What the person did since the model's last turn, in words. */
  gestures = [];

  onChange(listener) {
    this.#listeners.push(listener);
  }

  #changed(what) {
    for (const listener of this.#listeners) listener(what);
  }

  /** Make a change that can be undone; `label` says what was done, as in “kept Hund”. */
  commit(label, patch, { gesture = true } = {}) {
    this.#past.push({ label, state: this.now, gestures: this.gestures });
    this.#past.splice(0, this.#past.length - DEPTH);
    this.#future = [];
    this.now = { ...this.now, ...patch };
    if (gesture) this.gestures = [...this.gestures, label];
    this.#changed(label);
  }

  /** Change what is no step of its own: letters typed into the source. */
  amend(patch) {
    this.now = { ...this.now, ...patch };
    this.#changed(null);
  }

  /** Take a result of the model in. */
  addTurn(turn, patch) {
    this.turns.push({ ...turn, gestures: this.gestures });
    this.commit(turn.label, { ...patch, turn: this.turns.length - 1 }, { gesture: false });
    this.gestures = [];
  }

  /** All there is, to be put back later. */
  snapshot() {
    return { now: this.now, turns: this.turns, gestures: this.gestures, past: this.#past, future: this.#future };
  }

  restore({ now, turns, gestures, past, future }) {
    [this.now, this.turns, this.gestures, this.#past, this.#future] = [now, turns, gestures, past, future];
    this.#changed(null);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  undo() {
    return this.#move(this.#past, this.#future);
  }

  redo() {
    return this.#move(this.#future, this.#past);
  }

  #move(from, to) {
    const entry = from.pop();
    if (!entry) return null;
    to.push({ label: entry.label, state: this.now, gestures: this.gestures });
    this.now = entry.state;
    this.gestures = entry.gestures;
    this.#changed(entry.label);
    return entry.label;
  }
}
