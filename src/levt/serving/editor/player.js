// Plays iterations: a scrubber over frames, live while they come in, or again afterwards. The last place of
// the scrubber is “now”, where the person edits. Knows frames only as things with counts of edits.

import { byId, calm } from "./dom.js";
import { hide } from "./focus.js";

const PAUSE = { delete: 420, insert: 380, fill: 620 };
const CONFIRMED = 250;
const CALM = 300;
/** When more iterations than this are still to come, they are played faster. */
const PATIENCE = 4;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Player {
  /** Goes on from a frame. */
  onTake = () => {};
  #run = 0;
  #arrived = null;

  /**
   * `onShow(frame, phase)` shows a frame, `onShow(null)` the present; `onTell(moment)` reads aloud what is played
   * again; `heir()` gives what gets the focus where there is nothing to be played.
   */
  constructor({ onShow, onTell, heir }) {
    Object.assign(this, { onShow, onTell, heir });
    this.resting = false;
    this.live = null;
    this.ended = true;
    this.frames = [];
    this.position = 0;
    this.scrubber = byId("scrubber");
    this.scrubber.addEventListener("input", () => this.seek(Number(this.scrubber.value)));
    byId("play").addEventListener("click", () => (this.playing ? this.seek(this.position) : this.play()));
    byId("take").addEventListener("click", () => this.onTake(this.position));
  }

  get playing() {
    return this.#run % 2 === 1;
  }

  get isNow() {
    return this.position >= this.frames.length;
  }

  describe(position = this.position) {
    if (position >= this.frames.length) return "Now: yours to edit";
    if (position === 0) return "Draft";
    const { deleted, inserted } = this.frames[position];
    const edits = deleted || inserted ? `${deleted} deleted, ${inserted} inserted` : "nothing changed";
    return `Iteration ${position} of ${this.frames.length - 1}: ${edits}`;
  }

  #update(phase = "all") {
    const there = this.frames.length > 0;
    hide(byId("player"), !there || this.resting, this.heir);
    this.scrubber.max = this.frames.length;
    this.scrubber.value = this.position;
    this.scrubber.setAttribute("aria-valuetext", this.describe());
    byId("moment").textContent = there ? this.describe() : "";
    hide(byId("take"), this.isNow || this.playing, () => this.scrubber);
    byId("legend").hidden = this.isNow;
    byId("sure").hidden = !this.isNow;
    byId("play").textContent = this.playing ? "Pause" : "Play";
    byId("play").classList.toggle("playing", this.playing);
    this.onShow(this.isNow ? null : this.frames[this.position], phase);
  }

  /** Put the controls away, or back. */
  rest(yes) {
    this.resting = yes;
    this.#update();
  }

  #stop() {
    if (this.playing) this.#run += 1;
  }

  /** A finished story; shows the present. */
  load(frames) {
    this.#stop();
    this.frames = frames;
    this.position = frames.length;
    this.#update();
  }

  seek(position) {
    this.#stop();
    this.position = position;
    this.#update();
  }

  /** Frames will come in one by one. */
  begin(first) {
    this.load([first]);
    this.seek(0);
    this.live = calm() ? null : this.play({ live: true });
  }

  push(frame) {
    const last = this.position === this.frames.length - 1;
    this.frames.push(frame);
    this.#arrived?.();
    if (!this.playing && calm() && last) this.seek(this.frames.length - 1);
  }

  /** No more frames: let what is playing play to its end, then show the present. */
  async finish(frames) {
    this.ended = true;
    this.#arrived?.();
    const { live } = this;
    await live;
    // Another story may have begun while this one was still being told.
    if (this.live !== live) return;
    this.live = null;
    this.load(frames);
  }

  /** Play no further; what is still to come is there already. */
  skip() {
    if (this.playing) this.seek(this.frames.length - 1);
  }

  async play({ live = false } = {}) {
    this.ended = !live;
    if (!live && (this.isNow || this.position === this.frames.length - 1)) this.position = 0;
    this.#run += 1 + (this.#run % 2);
    const run = this.#run;
    this.#update();
    for (let i = this.position + 1; run === this.#run; i += 1) {
      while (i >= this.frames.length && !this.ended && run === this.#run) {
        await new Promise((resolve) => (this.#arrived = resolve));
      }
      if (i >= this.frames.length || run !== this.#run) break;
      this.position = i;
      if (!live) this.onTell(this.describe());
      const { deleted, inserted } = this.frames[i];
      const phases = [deleted && "delete", inserted && "insert", "fill"].filter(Boolean);
      for (const phase of calm() ? ["all"] : phases) {
        this.#update(phase);
        const pause = calm() ? CALM : deleted || inserted ? PAUSE[phase] : CONFIRMED;
        await wait(pause * Math.min(1, PATIENCE / (this.frames.length - i)));
        if (run !== this.#run) return;
      }
    }
    if (run === this.#run && !live) this.seek(this.frames.length);
  }
}
