// What a person types becomes tokens: only the words that changed are looked up again, all others stay who
// they are, with their locks. Knows no page.

import { common } from "./diff.js";
import { ask, crossWord, EMPTY, replace, standsFor, textOf, wordsOf } from "./document.js";
import { cutText } from "./pieces.js";

/** The places of the document that differ from the text: [{start, end, text, inside}] in tokens, in order. */
export function differences(doc, text) {
  // A text begins with a word, whether or not its first piece says so.
  const before = wordsOf(doc).map((word, i) => (i === 0 ? { ...word, space: true } : word));
  const now = cutText(text);
  const same = (a, b) => a.text === b.text && a.space === b.space;
  const pairs = [...common(before, now, same), [before.length, now.length]];
  const found = [];
  let i = 0;
  let j = 0;
  for (const [nextI, nextJ] of pairs) {
    if (nextI > i || nextJ > j) {
      const start = i < before.length ? before[i].start : doc.tokens.length;
      const words = now.slice(j, nextJ);
      found.push({
        start,
        end: nextI > i ? before[nextI - 1].end : start,
        text: words.map((word, k) => (k > 0 && word.space ? " " : "") + word.text).join(""),
        inside: words.length > 0 && !words[0].space,
      });
    }
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return found;
}

/** The document with this text; `tokenize` asks the server. What was typed is kept, if so wished. */
export async function retype(doc, text, tokenize, { keep = true } = {}) {
  if (text.trim() === textOf(doc).trim()) return doc;
  let result = doc;
  for (const place of differences(doc, text).reverse()) {
    const found = place.text ? await tokenize(place.text, place.inside) : { tokens: [], pieces: [] };
    result = replace(result, place, found, { keep });
  }
  return result;
}

/** Words in a row of which the same is decided: [{words, locked, drop, asked}], with what is asked for before them. */
export function runsOf(doc) {
  const runs = [];
  for (const word of wordsOf(doc)) {
    const [last, asked] = [runs.at(-1), doc.counts[word.start]];
    if (last && asked === null && last.locked === word.locked && last.drop === word.drop) last.words.push(word);
    else runs.push({ words: [word], locked: word.locked, drop: word.drop, asked });
  }
  return [...runs, { words: [], locked: false, drop: false, asked: doc.counts.at(-1) }];
}

/** A document of such runs in the tokens of another model, whose `tokenize` this is. */
export async function spell(runs, tokenize) {
  let doc = EMPTY;
  for (const { words, locked, drop, asked } of runs) {
    const start = doc.tokens.length;
    const text = words.map((word, i) => (i > 0 && word.space ? " " : "") + word.text).join("");
    const found = text ? await tokenize(text, start > 0 && !words[0].space) : { tokens: [], pieces: [] };
    doc = ask(replace(doc, { start, end: start }, found, { keep: locked }), start, asked);
    if (drop) doc = crossWord(doc, { start, end: doc.tokens.length }, true);
  }
  return doc;
}

/** Where a word or a gap of an earlier document is now: tokens know who they are. */
export function placeNow(doc, place) {
  const is = (token) => (other) => standsFor(other, token?.id);
  const at = (token) => doc.tokens.findIndex(is(token));
  if (place.kind === "gap") {
    const [after, before] = [at(place.after?.tokens[0]), doc.tokens.findLastIndex(is(place.before?.tokens.at(-1)))];
    const gone = place.before ? Math.min(place.start, doc.tokens.length) : 0;
    const start = after !== -1 ? after : before !== -1 ? before + 1 : gone;
    return { start, end: start };
  }
  const start = at(place.tokens[0]);
  if (doc.tokens[start]?.id === place.tokens[0].id) return { start, end: start + place.tokens.length };
  // What stands there instead is meant, whole.
  const here = start === -1 ? place.start : start;
  const { start: from, end } = wordsOf(doc).find((word) => word.end > here) ?? { start: doc.tokens.length, end: doc.tokens.length };
  return { start: from, end };
}

/** The number of the word at a token, or of that behind a gap. */
export const wordAt = (doc, start) => wordsOf(doc).filter((word) => word.end <= start).length;

/** The word of a number, or the gap before it, as a place. */
export function placeAt(doc, kind, at) {
  const words = wordsOf(doc);
  if (kind === "word" && words[at]) return { kind, ...words[at] };
  const [before, after] = [words[at - 1], words[at]];
  const start = after?.start ?? doc.tokens.length;
  return { kind: "gap", start, end: start, before, after };
}

/** The text of a document with something else in one place: instead of a word, or in a gap. */
export function withText(doc, { start, end }, typed) {
  const words = wordsOf(doc);
  const shown = (some) => some.map((word) => (word.space ? " " : "") + word.text).join("");
  const old = start < end ? words.find((word) => word.start === start) : null;
  // In a gap, punctuation clings to the word before it; everything else is a word of its own, as is what begins with a space.
  const space = old ? old.space || /^\s/.test(typed) : !/^[\p{Pe}\p{Pf}.,;:!?…]/u.test(typed);
  const middle = typed.trim() ? (space ? " " : "") + typed.trim() : "";
  const left = words.filter((word) => word.end <= start);
  const right = words.filter((word) => word.start >= end);
  return (shown(left) + middle + shown(right)).trim();
}
