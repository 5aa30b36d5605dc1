// The model's turn: what is sent for Translate, Continue and One step, and what becomes of the answer.
// Knows the session, the server and the player; no buttons.

import { afterResult, documentOf, stateOf, textOf } from "./document.js";
import { plural } from "./dom.js";
import { follow } from "./follow.js";
import { complain, say, settle } from "./notices.js";
import { afterTurn } from "./state.js";
import { after, begin, changes, frames } from "./trace.js";

const STOPPED = {
  unchanged: "nothing more to change",
  repeated: "nothing better found",
  cycle: "it went in a circle, and this is the best of it",
  limit: "the limit on iterations was reached",
  empty: "there was no text",
};

const frameOf = (tokens, marked = tokens.map((token) => ({ mark: "keep", p: null, token }))) => ({
  marked,
  tokens,
  deleted: marked.filter(({ mark }) => mark === "delete").length,
  inserted: marked.filter(({ mark }) => mark === "insert").length,
});

/** Those of many results that are none of a refusal. */
export const translated = (results) => results.filter((result) => !(result instanceof Error));

export class ModelTurn {
  #aborter = null;
  #done = false;

  /** Hears when the model begins and ends. */
  onBusy = () => {};
  /** Asks once more, after an error. */
  again = (action) => this[action]();

  /** `options()` gives the settings. */
  constructor({ api, session, player, options }) {
    Object.assign(this, { api, session, player, options });
  }

  get busy() {
    return this.#aborter !== null;
  }

  /** Stop what is running: the draft stays as it was. If the model is done and only shown, show the end. */
  stop() {
    if (this.#done) this.player.skip();
    else this.#aborter?.abort();
  }

  translate() {
    const { source, terms, bans } = this.session.now;
    const body = { text: source, terms, drop: bans.map((ban) => ban.text), options: this.#bySentence(source) };
    return this.#turn("translate", documentOf([]), (more) => this.api.stream("v1/translate", body, more));
  }

  /**
   * Translate sentences without showing how; gives the results that were there when it ended, was stopped or failed,
   * and `again` is what can be tried then. The result of a sentence that the server refuses is the error.
   */
  async translateAll(sentences, again) {
    const aborter = this.#begin();
    const { signal } = aborter;
    const results = [];
    const onSome = (some) => {
      results.push(...some);
      say(`${translated(results).length} of ${plural(sentences.length, "sentence")} translated …`);
    };
    try {
      const texts = sentences.map(({ now }) => now.source);
      const drop = sentences.map(({ now }) => now.bans.map((ban) => ban.text));
      await this.api.translateAll(texts, drop, this.options(), { signal, onSome });
    } catch (error) {
      if (this.#aborter !== aborter) return [];
      const stopped = error.name === "AbortError" || signal.aborted;
      if (!results.length) say(stopped ? "Stopped; nothing was translated." : "That did not work.");
      if (!stopped) complain(error, again);
    } finally {
      if (this.#aborter === aborter) {
        this.#aborter = null;
        this.onBusy();
      }
    }
    return results;
  }

  /** A sentence with a result that nobody watched. */
  taken(sentence, result) {
    return afterTurn(sentence, ...this.#turnOf("translate", sentence.now.source, result, frames(result.trace)));
  }

  /** Repair the rest around what the person fixed; after a change of the source, as little as it can. */
  continue() {
    const { source, synced, doc, terms, bans } = this.session.now;
    const body = { text: source, state: this.#state(doc, bans), terms, options: this.options() };
    const action = source === synced ? "continue" : "re-sync";
    return this.#turn(action, doc, async (more) => {
      if (action === "re-sync" && synced.trim() && body.options.min_edit < 1) body.state = await this.#followed(body, more.signal);
      return this.api.stream("v1/refine", body, more);
    });
  }

  /** The state with what a change of the source makes of it. */
  async #followed({ text, state }, signal) {
    const { synced, doc, bans } = this.session.now;
    const never = bans.map((ban) => ban.text);
    const body = { texts: [synced, text], drop: [never, never], options: this.#bySentence(synced, text) };
    const [before, after] = await this.api.write(body, signal);
    const { drop, counts } = follow(doc, before, after);
    return { ...state, drop: state.drop.map((gone, i) => gone || drop[i]), counts };
  }

  step() {
    const { source, doc, terms, bans } = this.session.now;
    const { max_iterations: _, ...options } = this.options();
    const body = { text: source, state: this.#state(doc, bans), terms, options };
    return this.#turn("step", doc, ({ signal }) => this.api.step(body, signal));
  }

  /** Settings with which each sentence of a line is written by itself, as the commands do; lines would bring breaks along. */
  #bySentence(...texts) {
    return { ...this.options(), by_sentence: !this.api.model?.by_pieces && !texts.some((text) => /[\n\r]/.test(text.trim())) };
  }

  #state(doc, bans) {
    return stateOf(doc, bans.map((ban) => ban.tokens).filter((tokens) => tokens.length), this.api.limits?.terms ?? 0);
  }

  /** Stop what was going on, and show that the model is at work; gives what stops it. */
  #begin() {
    this.#aborter?.abort();
    this.#done = false;
    this.#aborter = new AbortController();
    settle();
    say("The model is at work …");
    this.onBusy();
    return this.#aborter;
  }

  async #turn(action, doc, send) {
    const { source } = this.session.now;
    if (!source.trim()) {
      say("There is no source yet: type or paste a text on the left.");
      return false;
    }
    const aborter = this.#begin();
    let live = null;
    const onEvent = (name, data) => {
      if (aborter.signal.aborted) return;
      if (name === "draft") {
        live = begin(data, doc.tokens);
        this.player.begin(frameOf(live));
      } else if (name === "iteration" && live) {
        const marked = changes(live, data.iteration);
        live = after(marked);
        this.player.push(frameOf(live, marked));
      }
    };
    try {
      const result = await send({ signal: aborter.signal, onEvent });
      this.#done = this.#aborter === aborter;
      const story = result.trace ? frames(result.trace, doc.tokens) : [];
      if (!live && story.length) {
        this.player.begin(story[0]);
        for (const frame of story.slice(1)) this.player.push(frame);
      }
      await this.player.finish(story);
      // Somebody may have asked for something else meanwhile.
      if (aborter.signal.aborted) return false;
      this.#take(action, source, result, story);
      return true;
    } catch (error) {
      // Another turn has begun in the place of this one.
      if (this.#aborter !== aborter) return false;
      this.player.load(this.session.turns[this.session.now.turn]?.frames ?? []);
      if (error.name === "AbortError" || aborter.signal.aborted) {
        say("Stopped; the draft is as it was.");
      } else {
        say("That did not work.");
        // The source or the draft may be another by then.
        complain(error, () => this.again(action === "re-sync" ? "continue" : action));
      }
      return false;
    } finally {
      if (this.#aborter === aborter) {
        this.#aborter = null;
        this.onBusy();
      }
    }
  }

  /** What a result is as a turn, and what it changes. */
  #turnOf(action, source, result, story) {
    const last = story.at(-1) ?? frameOf([]);
    const doc = afterResult(result, last.tokens);
    const label = `the model’s ${action}`;
    return [{ action, source, label, result, frames: story, text: textOf(doc) }, { doc, synced: source }];
  }

  #take(action, source, result, story) {
    this.session.addTurn(...this.#turnOf(action, source, result, story));
    const sum = (key) => story.reduce((total, frame) => total + frame[key], 0);
    const edits = `${sum("deleted")} deleted, ${sum("inserted")} inserted`;
    // A model may leave alone what reads well, though the source says something else by now.
    const nothing = !sum("deleted") && !sum("inserted");
    const advice =
      nothing && this.options().min_edit === 1
        ? " “Leave alone” is at its end: nothing is edited."
        : nothing && action === "re-sync"
          ? " Cross out what no longer fits and continue, or translate anew."
          : "";
    const read = nothing ? "" : textOf(this.session.now.doc);
    say(`${plural(result.iterations, "iteration")}: ${edits}; ${STOPPED[result.stopped] ?? result.stopped}.${advice}`, { read });
  }
}
