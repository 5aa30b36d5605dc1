// What was typed into the draft, on its way to become tokens: one after the other, and nothing is forgotten where
// the server does not answer. Knows the session and the server; no fields.

import { complain } from "./notices.js";
import { retype } from "./typing.js";
import { api, quoted, session } from "./work.js";

/** What was typed and is not written yet, in order: {text, read, label, keep}. */
let unwritten = [];
let writing = null;

/** Write the draft anew; `read` gives the text for a document, and only what changed is looked up. */
export async function write({ read, label, keep, again, giveUp }) {
  try {
    for (;;) {
      const before = session.now.doc;
      const doc = await retype(before, read(before), (part, inside) => api.tokenize(part, inside), { keep });
      // Whoever is quick has kept another word meanwhile.
      if (session.now.doc !== before) continue;
      if (doc !== before) session.commit(label, { doc });
      return true;
    }
  } catch (error) {
    const waiting = unwritten.filter(({ text }) => text).map(({ text }) => quoted(text));
    complain(error, again, { giveUp, more: waiting.length ? `Not written yet: ${waiting.join(", ")}.` : "" });
    return false;
  }
}

/** Write down one thing more: its text, what to call it, and `read`, which gives the whole text for a document. */
export function writeSoon(one) {
  unwritten.push(one);
  writeAll();
}

/** Write down what was typed, one after the other; gives whether all of it is. */
export function writeAll() {
  const before = writing;
  writing = (async () => {
    await before;
    while (unwritten.length) {
      if (!(await write({ ...unwritten[0], again: writeAll, giveUp: () => (unwritten = []) }))) return false;
      unwritten.shift();
    }
    return true;
  })();
  return writing;
}
