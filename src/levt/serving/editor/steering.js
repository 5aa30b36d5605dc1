// What must appear and what must not: the two lists below the draft. Knows no model's turn.

import { chips } from "./chips.js";
import { textOf } from "./document.js";
import { stands } from "./pieces.js";
import { writeSoon } from "./typed.js";
import { quoted, session } from "./work.js";

const terms = chips({
  list: "terms",
  field: "term",
  button: "term-add",
  onAdd: (text) => session.commit(`demanded ${quoted(text)}`, { terms: [...session.now.terms.filter((term) => term !== text), text] }),
  onRemove: (i) => session.commit(`no longer demanded ${quoted(session.now.terms[i])}`, { terms: session.now.terms.filter((_, k) => k !== i) }),
});
const bans = chips({
  list: "bans",
  field: "ban",
  button: "ban-add",
  onAdd: (text) => writeSoon({ ban: text }),
  onRemove: (i) => session.commit(`allowed ${quoted(session.now.bans[i].text)}`, { bans: session.now.bans.filter((_, k) => k !== i) }),
});

export function showSteering({ terms: wanted, bans: never, doc }) {
  const text = textOf(doc);
  terms.show(wanted, (term) => text !== "" && !stands(term, text));
  bans.show(never.map((ban) => ban.text));
}

/** Whether something was typed into the fields and not added. */
export const isTyped = () => terms.isTyped() || bans.isTyped();

/** Add what was typed into the fields and not added. */
export function addTyped() {
  terms.add();
  bans.add();
}
