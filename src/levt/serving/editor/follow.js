// The source has changed: which words of the draft no longer fit, and how many should come instead. Tells it
// from what the model writes for the source as it was and as it is now. Knows no page and no server.

import { common } from "./diff.js";
import { wordsOf } from "./document.js";
import { cutWords } from "./pieces.js";

const same = (a, b) => a.text === b.text && a.space === b.space;

/** The stretches in which two lists of words differ: [{from, to, start, end}], to and end not counted. */
function changed(before, after) {
  const found = [];
  let [from, start] = [0, 0];
  for (const [i, j] of [...common(before, after, same), [before.length, after.length]]) {
    if (i > from || j > start) found.push({ from, to: i, start, end: j });
    [from, start] = [i + 1, j + 1];
  }
  return found;
}

/**
 * What to cross out and how many placeholders to open, one per token and one per gap of the document. `before`
 * and `after` are pieces: the model's texts for the old source and for the new one. What the person wrote or
 * keeps stays, and beside it the model decides for itself.
 */
export function follow(doc, before, after) {
  const [old, fresh, words] = [cutWords(before), cutWords(after), wordsOf(doc)];
  const at = new Map(common(old, words, same));
  at.set(-1, -1).set(old.length, words.length);
  const drop = doc.tokens.map(() => false);
  const counts = doc.counts.map(() => null);
  for (const { from, to, start, end } of changed(old, fresh)) {
    const gone = [];
    for (let i = from; i < to; i += 1) if (at.has(i)) gone.push(words[at.get(i)]);
    const mayGo = gone.filter((word) => !word.locked && !word.mine);
    for (const word of mayGo) drop.fill(true, word.start, word.end);
    const [left, right] = [at.get(from - 1), at.get(to)];
    // Only where nothing else stands between the same neighbours is it known how many should come.
    if (left === undefined || right === undefined || right - left - 1 !== mayGo.length) continue;
    const gap = left + 1 < words.length ? words[left + 1].start : doc.tokens.length;
    if (doc.counts[gap] !== null) continue;
    counts[gap] = fresh.slice(start, end).reduce((sum, word) => sum + word.end - word.start, 0);
  }
  return { drop, counts };
}
