// A text of several sentences: a model that has learnt sentences does better one by one.
// Knows the session and the list of sentences on the page; no server.

import { inARow, textOf } from "./document.js";
import { byId, element } from "./dom.js";
import { visible } from "./pieces.js";
import { blank } from "./state.js";
import { newToken } from "./trace.js";

/** Tokens with what is known of them and no more: there may be thousands, and a browser keeps only so much. */
const slim = (tokens) =>
  tokens.map(({ id: _, ...token }) => {
    const known = Object.entries(token).filter(([, value]) => value !== null && value !== false);
    return Object.fromEntries(known.map(([name, value]) => [name, ["fill", "keep"].includes(name) ? Number(value.toPrecision(4)) : value]));
  });

/** Tokens that were kept, under numbers that no other has. */
const renumbered = (tokens) => tokens.map((token) => newToken(token.token, token.piece, token));

export class Sentences {
  constructor(session) {
    this.session = session;
  }

  get many() {
    return this.session.sentences.length > 1;
  }

  /** Whole texts: of the drafts, or of what `read` gives for a sentence. */
  text(read = ({ now }) => textOf(now.doc)) {
    return this.session.sentences.map((one) => read(one) + one.space).join("").trimEnd();
  }

  /** Put sentences back that were kept. */
  reopen(kept, at) {
    const sentences = kept.map(({ space, now }) => {
      const doc = { ...now.doc, tokens: renumbered(now.doc.tokens) };
      return { ...blank(""), space, now: { ...now, doc } };
    });
    this.session.begin(sentences, at);
  }

  /** What is worth keeping. */
  get kept() {
    return this.session.sentences.map(({ space, now }) => ({ space, now: { ...now, doc: { ...now.doc, tokens: slim(now.doc.tokens) }, turn: -1 } }));
  }

  go(i) {
    if (i === this.session.at || i < 0 || i >= this.session.sentences.length) return false;
    this.session.go(i);
    return true;
  }

  /** One text again, with all drafts in a row. */
  join() {
    const all = this.session.sentences;
    const source = this.text(({ now }) => now.source);
    const synced = this.text(({ now }) => now.synced);
    const doc = inARow(all.map(({ now }) => now.doc));
    const terms = [...new Set(all.flatMap(({ now }) => now.terms))];
    const bans = [...new Map(all.flatMap(({ now }) => now.bans.map((ban) => [ban.text, ban]))).values()];
    const turns = all.flatMap((one) => one.turns);
    const gestures = all.flatMap((one) => one.gestures);
    this.session.exchange("joined the sentences", [{ ...blank(source, { doc, terms, bans, synced }), turns, gestures }]);
  }

  /** Show the list; `choose(i)` hears which one was pressed. */
  show(choose) {
    byId("sentences").hidden = !this.many;
    if (!this.many) return;
    const focused = byId("sentence-list").contains(document.activeElement);
    const items = this.session.sentences.map(({ now }, i) => {
      const done = now.doc.tokens.length > 0;
      const label = `Sentence ${i + 1}: ${visible(now.source)}${done ? "" : ", no draft yet"}`;
      return element(
        "li",
        {},
        element("button", { type: "button", "aria-label": label, "aria-current": i === this.session.at ? "true" : null, title: now.source, onclick: () => choose(i) }, `${i + 1}. `, element("bdi", { lang: byId("source").lang }, visible(now.source))),
      );
    });
    const list = byId("sentence-list");
    list.replaceChildren(...items);
    if (focused) items[this.session.at].firstChild.focus();
    const { offsetLeft: left, offsetWidth: width } = items[this.session.at];
    list.scrollLeft = Math.max(left - list.offsetLeft - (list.clientWidth - width) / 2, 0);
  }
}
