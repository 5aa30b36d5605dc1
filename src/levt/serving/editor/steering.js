// What must appear and what must not: the two lists below the draft. Knows no model's turn.

import { chips } from "./chips.js";
import { textOf } from "./document.js";
import { complain } from "./notices.js";
import { stands } from "./pieces.js";
import { api, quoted, session } from "./work.js";

let banning = null;

/** Done when what was banned last is known in tokens. */
export const banned = () => banning;

async function banText(text) {
  try {
    const { tokens } = await api.tokenize(text);
    session.commit(`banned ${quoted(text)}`, { bans: [...session.now.bans.filter((ban) => ban.text !== text), { text, tokens }] });
  } catch (error) {
    complain(error, () => banText(text));
  }
}

const showTerms = chips({
  list: "terms",
  field: "term",
  button: "term-add",
  onAdd: (text) => session.commit(`demanded ${quoted(text)}`, { terms: [...session.now.terms.filter((term) => term !== text), text] }),
  onRemove: (i) => session.commit(`no longer demanded ${quoted(session.now.terms[i])}`, { terms: session.now.terms.filter((_, k) => k !== i) }),
});
const showBans = chips({
  list: "bans",
  field: "ban",
  button: "ban-add",
  onAdd: (text) => (banning = banText(text)),
  onRemove: (i) => session.commit(`allowed ${quoted(session.now.bans[i].text)}`, { bans: session.now.bans.filter((_, k) => k !== i) }),
});

export function showSteering({ terms, bans, doc }) {
  const text = textOf(doc);
  showTerms(terms, (term) => text !== "" && !stands(term, text));
  showBans(bans.map((ban) => ban.text));
}
