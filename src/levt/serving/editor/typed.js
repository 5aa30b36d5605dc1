// What was typed, on its way to become tokens: one after the other, nothing is forgotten where the server does not
// answer, and a reload keeps it. Knows the session and the server; no fields.

import { complain, settled } from "./notices.js";
import { placeAt, placeNow, retype, withText, wordAt } from "./typing.js";
import { api, quoted, session } from "./work.js";

/** What is not written yet, in order: {text, place, first} for the draft, {ban} for what must not appear. */
let waiting = [];
let writing = null;
let hear = () => {};

/** `listener` hears when something waits. */
export const onWaiting = (listener) => (hear = listener);

/** Write the draft anew; `read` gives the text for a document, and only what changed is looked up. */
export async function rewrite({ read, label, keep }) {
  for (;;) {
    const before = session.now.doc;
    const doc = await retype(before, read(before), (part, inside) => api.tokenize(part, inside), { keep });
    // Whoever is quick has kept another word meanwhile.
    if (session.now.doc !== before) continue;
    if (doc !== before) session.commit(label, { doc });
    return;
  }
}

async function ban(text) {
  const { tokens } = await api.tokenize(text);
  session.commit(`banned ${quoted(text)}`, { bans: [...session.now.bans.filter((other) => other.text !== text), { text, tokens }] });
}

function write(one) {
  if (one.ban) return ban(one.ban);
  const { text, place, first } = one;
  const label = first ? "gave a draft" : text.trim() ? `wrote ${quoted(text.trim())}` : `deleted ${quoted(place.text)}`;
  return rewrite({ read: (doc) => withText(doc, placeNow(doc, place), text), label, keep: !first });
}

/** Write down one thing more. */
export function writeSoon(one) {
  waiting = [...waiting, one];
  writeAll();
  hear();
}

/** Write down what was typed, one after the other; gives whether all of it is. */
export function writeAll() {
  const before = writing;
  writing = (async () => {
    await before;
    for (let one; (one = waiting[0]); ) {
      try {
        await write(one);
      } catch (error) {
        const failed = waiting;
        const named = failed.map(({ ban, text }) => ban ?? text.trim()).filter(Boolean);
        const more = named.length ? `Not written yet: ${named.map(quoted).join(", ")}.` : "";
        // Only what was named is given up; what was typed since is on its way.
        const giveUp = () => ((waiting = waiting.filter((other) => !failed.includes(other))), hear());
        complain(error, writeAll, { giveUp, more });
        return false;
      }
      waiting = waiting.filter((other) => other !== one);
      hear();
    }
    settled(writeAll);
    return true;
  })();
  return writing;
}

/** What waits, as plain values; `typing` is {item, text} where somebody is typing into the draft. */
export function keptTyping(typing) {
  const { doc } = session.now;
  const more = typing && typing.text.trim() !== (typing.item.text ?? "") ? [{ text: typing.text, place: typing.item, first: false }] : [];
  return [...waiting, ...more].map(({ ban, text, place, first }) =>
    ban ? { ban } : { text, first, kind: place.kind, at: wordAt(doc, placeNow(doc, place).start) },
  );
}

/** Let it wait again; it is written with the next thing that is. */
export function resumeTyping(kept) {
  const { doc } = session.now;
  const ours = kept.filter((one) => typeof (one?.ban ?? one?.text) === "string");
  waiting = ours.map(({ ban, text, first, kind, at }) => (ban ? { ban } : { text, first, place: placeAt(doc, kind, at) }));
}
