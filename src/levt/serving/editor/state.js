// The session: what is on the page, sentence by sentence, with undo and redo of everything in the order in which
// it was done, and the list of the model's turns. Knows no page.

import { EMPTY } from "./document.js";

const START = Object.freeze({ source: "", synced: "", doc: EMPTY, terms: [], bans: [], turn: -1 });
const DEPTH = 500;

/**
 * A sentence in which nothing has happened. `space` is the white space behind it; `turns` are the model's, also those
 * undone: {action, source, gestures, result, frames}; `gestures` what the person did since the last, in words.
 */
export const blank = (source, more = {}) => ({ now: { ...START, source, ...more }, turns: [], gestures: [], space: "" });

/** A sentence with a result of the model taken in. */
export function afterTurn(sentence, turn, patch) {
  const { now, turns, gestures } = sentence;
  turns.push({ ...turn, gestures });
  return { ...sentence, gestures: [], now: { ...now, ...patch, turn: turns.length - 1 } };
}

export class Session {
  #past = [];
  #future = [];
  #listeners = [];

  /** The sentences of the text, in order; just one where it is not cut. */
  sentences = [blank("")];
  /** Which of them is on the page. */
  at = 0;

  get now() {
    return this.sentences[this.at].now;
  }

  get turns() {
    return this.sentences[this.at].turns;
  }

  get gestures() {
    return this.sentences[this.at].gestures;
  }

  /** `listener(what, {typed})` hears what was done, or null, and whether it was a letter of the source. */
  onChange(listener) {
    this.#listeners.push(listener);
  }

  #changed(what, more) {
    for (const listener of this.#listeners) listener(what, more);
  }

  /** Note what is there before it becomes something else; `then` is where one is afterwards. */
  #step(label, then = this.at, more = {}) {
    this.#past.push({ label, sentences: this.sentences, at: this.at, then, ...more });
    this.#past.splice(0, this.#past.length - DEPTH);
    this.#future = [];
  }

  #put(sentence) {
    this.sentences = this.sentences.with(this.at, sentence);
  }

  #patch(patch, gestures = this.gestures) {
    const sentence = this.sentences[this.at];
    this.#put({ ...sentence, gestures, now: { ...sentence.now, ...patch } });
  }

  /** Make a change that can be undone; `label` says what was done, as in “kept Hund”. */
  commit(label, patch) {
    this.#step(label);
    this.#patch(patch, [...this.gestures, label]);
    this.#changed(label);
  }

  /** Letters typed into the source: one step, as long as nothing else is done. */
  typeSource(source) {
    const last = this.#past.at(-1);
    if (!last?.typed || last.at !== this.at || this.canRedo) this.#step("changed the source", this.at, { typed: true });
    this.#patch({ source });
    this.#changed(null, { typed: true });
  }

  /** Take a result of the model in. */
  addTurn(turn, patch) {
    this.#step(turn.label);
    this.#put(afterTurn(this.sentences[this.at], turn, patch));
    this.#changed(turn.label);
  }

  /** Put other sentences in the place of these. */
  exchange(label, sentences, at = 0) {
    this.#step(label, at);
    [this.sentences, this.at] = [sentences, at];
    this.#changed(label);
  }

  /** Begin with these sentences; there is nothing to be undone. */
  begin(sentences, at) {
    [this.sentences, this.at, this.#past, this.#future] = [sentences, at, [], []];
    this.#changed(null);
  }

  go(i) {
    this.at = i;
    this.#changed(null);
  }

  get canUndo() {
    return this.#past.length > 0;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  /** Take the last step back, where it was done; gives its label. */
  undo() {
    return this.#move(this.#past, this.#future);
  }

  redo() {
    return this.#move(this.#future, this.#past);
  }

  #move(from, to) {
    const step = from.pop();
    if (!step) return null;
    to.push({ ...step, sentences: this.sentences, at: step.then, then: step.at });
    [this.sentences, this.at] = [step.sentences, step.at];
    this.#changed(step.label);
    return step.label;
  }
}
