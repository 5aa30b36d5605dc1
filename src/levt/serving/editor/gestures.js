// What a gesture on a word or a gap does: one change of the session each. Knows the draft on the page; no model's turn.

import { ask, crossWord, keepWord, replace } from "./document.js";
import { byId, plural } from "./dom.js";
import { DraftView } from "./draft_view.js";
import { gapMenu, wordMenu } from "./menus.js";
import { offers } from "./offers.js";
import { writeSoon } from "./typed.js";
import { placeNow } from "./typing.js";
import { quoted, session } from "./work.js";

const MOST_ASKED = 32;

/** A word or a gap where it is now: something may have been written since it was pressed. */
const itemNow = (item) => ({ ...item, ...placeNow(session.now.doc, item) });

export const draft = new DraftView(byId("draft"), {
  keep(word) {
    session.commit(`${word.locked ? "let go of" : "kept"} ${quoted(word.text)}`, { doc: keepWord(session.now.doc, itemNow(word)) });
  },
  cross(word) {
    session.commit(`${word.drop ? "took back crossing out" : "crossed out"} ${quoted(word.text)}`, { doc: crossWord(session.now.doc, itemNow(word)) });
  },
  ask(gap, count) {
    if (count === gap.count || count > MOST_ASKED) return;
    const what = count === null ? "left a gap to the model" : count === 0 ? "closed a gap" : `asked for ${plural(count, "word")} in a gap`;
    session.commit(what, { doc: ask(session.now.doc, itemNow(gap).start, count) });
  },
  type(place, text, { pasted = false } = {}) {
    writeSoon({ text, place, first: pasted && session.now.doc.tokens.length === 0 });
  },
  open(item, anchor) {
    const find = (placeholders, signal) => offers(itemNow(item), placeholders, signal);
    const take = (one) => session.commit(`chose ${quoted(one.shown)}`, { doc: replace(session.now.doc, itemNow(item), one) });
    const edit = () => draft.edit(itemNow(item), item.text ?? "");
    if (item.kind === "gap") {
      gapMenu(anchor, item, MOST_ASKED, { ask: (count) => this.ask(item, count), edit, find, take });
    } else {
      wordMenu(anchor, item, { keep: () => this.keep(item), cross: () => this.cross(item), edit, ban: () => banWord(item), find, take });
    }
  },
});

function banWord(word) {
  const ban = { text: word.text, tokens: word.tokens.map((token) => token.token) };
  const bans = [...session.now.bans.filter((other) => other.text !== ban.text), ban];
  session.commit(`banned ${quoted(word.text)}`, { bans, doc: crossWord(session.now.doc, itemNow(word), true) });
}
