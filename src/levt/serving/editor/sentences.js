// A text of several sentences, one session for each: a model that has learnt sentences does better one by one.
// Knows sessions and the list of sentences on the page; no server.

import { inARow, textOf } from "./document.js";
import { byId, element } from "./dom.js";
import { visible } from "./pieces.js";
import { blank } from "./state.js";
import { newToken } from "./trace.js";

/** Tokens that were kept, under numbers that no other has. */
const renumbered = (tokens) => tokens.map(({ id: _, ...token }) => newToken(token.token, token.piece, token));

export class Sentences {
  #list = [{ space: "", saved: null }];

  at = 0;

  constructor(session) {
    this.session = session;
  }

  get many() {
    return this.#list.length > 1;
  }

  /** The sessions, in order. */
  get sessions() {
    this.#list[this.at].saved = this.session.snapshot();
    return this.#list.map(({ saved }) => saved);
  }

  /** Whole texts: of the drafts, or of what `read` gives for a session. */
  text(read = ({ now }) => textOf(now.doc)) {
    return this.sessions.map((saved, i) => read(saved) + this.#list[i].space).join("").trimEnd();
  }

  /** Begin with these sentences. */
  open(sentences, more = {}) {
    this.#list = sentences.map(({ text, space }) => ({ space, saved: blank(text, more) }));
    this.at = 0;
    this.session.restore(this.#list[0].saved);
  }

  /** Put sessions back that were kept. */
  reopen(list, at) {
    this.#list = list.map(({ space, now }) => {
      const doc = { ...now.doc, tokens: renumbered(now.doc.tokens) };
      return { space, saved: { ...blank(""), now: { ...now, doc } } };
    });
    this.at = at;
    this.session.restore(this.#list[at].saved);
  }

  /** What is worth keeping. */
  get kept() {
    return this.sessions.map(({ now }, i) => ({ space: this.#list[i].space, now: { ...now, turn: -1 } }));
  }

  go(i) {
    if (i === this.at || i < 0 || i >= this.#list.length) return false;
    this.#list[this.at].saved = this.session.snapshot();
    this.at = i;
    this.session.restore(this.#list[i].saved);
    return true;
  }

  /** One text again, with all drafts in a row. */
  join() {
    const { sessions } = this;
    const source = this.text(({ now }) => now.source);
    const synced = this.text(({ now }) => now.synced);
    const doc = inARow(sessions.map(({ now }) => now.doc));
    const terms = [...new Set(sessions.flatMap(({ now }) => now.terms))];
    const bans = [...new Map(sessions.flatMap(({ now }) => now.bans.map((ban) => [ban.text, ban]))).values()];
    this.open([{ text: source, space: "" }], { doc, terms, bans, synced });
  }

  /** Show the list; `choose(i)` hears which one was pressed. */
  show(choose) {
    byId("sentences").hidden = !this.many;
    if (!this.many) return;
    const focused = byId("sentence-list").contains(document.activeElement);
    const items = this.sessions.map(({ now }, i) => {
      const done = now.doc.tokens.length > 0;
      const label = `Sentence ${i + 1}: ${visible(now.source)}${done ? "" : ", no draft yet"}`;
      return element(
        "li",
        {},
        element("button", { type: "button", "aria-label": label, "aria-current": i === this.at ? "true" : null, title: now.source, onclick: () => choose(i) }, `${i + 1}. ${visible(now.source)}`),
      );
    });
    const list = byId("sentence-list");
    list.replaceChildren(...items);
    if (focused) items[this.at].firstChild.focus();
    const { offsetLeft: left, offsetWidth: width } = items[this.at];
    list.scrollLeft = Math.max(left - list.offsetLeft - (list.clientWidth - width) / 2, 0);
  }
}
