// The document: tokens of the draft with what the person has decided about them. Pure functions that give a
// new document; knows no page and no server.

import { cutWords, joinPieces } from "./pieces.js";
import { newToken } from "./trace.js";

export const EMPTY = Object.freeze({ tokens: [], counts: [null] });

/** A document of tokens in which nothing is asked for. */
export const documentOf = (tokens) => ({ tokens, counts: Array(tokens.length + 1).fill(null) });

export const textOf = (doc) => joinPieces(doc.tokens.map((token) => token.piece));

/** The words, each with what is known about it. */
export function wordsOf(doc) {
  return cutWords(doc.tokens.map((token) => token.piece)).map((word) => {
    const tokens = doc.tokens.slice(word.start, word.end);
    return {
      ...word,
      tokens,
      locked: tokens.every((token) => token.locked),
      drop: tokens.every((token) => token.drop),
      mine: tokens.every((token) => token.mine),
      confidence: confidence(tokens),
    };
  });
}

/** The least sure of the decisions about these tokens: when written, when last kept. */
function confidence(tokens) {
  const known = tokens.flatMap(({ fill, keep }) => [fill, keep]).filter((p) => p !== null);
  return known.length ? Math.min(...known) : null;
}

const change = (doc, { start, end }, more) => ({
  ...doc,
  tokens: doc.tokens.map((token, i) => (i >= start && i < end ? { ...token, ...more(i) } : token)),
});

/** Keep a word, whole and unchanged, or let it go again. */
export const keepWord = (doc, word, locked = !word.locked) =>
  change(doc, word, (i) => ({ locked, glued: locked && i > word.start, drop: false }));

/** Cross a word out, or take that back. */
export const crossWord = (doc, word, drop = !word.drop) =>
  change(doc, word, () => ({ drop, locked: false, glued: false }));

/** Ask for so many words before token `at`; null leaves it to the model. */
export const ask = (doc, at, count) => ({ ...doc, counts: doc.counts.map((old, i) => (i === at ? count : old)) });

/** Whether a token is the one of that number, or was put in its place. */
export const standsFor = (token, id) => token.id === id || token.instead.includes(id);

/** Put other tokens in a place. What the person puts there is kept, word by word, unless it is only a draft. */
export function replace(doc, { start, end }, found, { keep = true } = {}) {
  const instead = doc.tokens.slice(start, end).flatMap((token) => [token.id, ...token.instead]);
  const fresh = found.tokens.map((token, i) => newToken(token, found.pieces[i], { locked: keep, mine: true, instead }));
  for (const word of keep ? cutWords(found.pieces) : []) {
    for (let i = word.start + 1; i < word.end; i += 1) fresh[i].glued = true;
  }
  const between = Array(Math.max(fresh.length - 1, 0)).fill(null);
  // What was asked for in the gap itself is answered by what was put there.
  const left = start === end ? [null] : [doc.counts[start]];
  const right = fresh.length === 0 ? [] : start === end ? [null] : [doc.counts[end]];
  return {
    tokens: [...doc.tokens.slice(0, start), ...fresh, ...doc.tokens.slice(end)],
    counts: [...doc.counts.slice(0, start), ...left, ...between, ...right, ...doc.counts.slice(end + 1)],
  };
}

/** Documents in a row; what was asked for in their gaps holds. */
export const inARow = (docs) =>
  docs.reduce((row, { tokens, counts }) => ({
    tokens: [...row.tokens, ...tokens],
    counts: [...row.counts.slice(0, -1), row.counts.at(-1) ?? counts[0], ...counts.slice(1)],
  }));

/** The document after a result: the last frame of its trace, with the locks that the server carried over. */
export function afterResult(result, tokens) {
  return documentOf(
    tokens.map((token, i) => ({
      ...token,
      locked: result.locked?.[i] ?? token.locked,
      glued: result.glued?.[i] ?? token.glued,
      drop: false,
    })),
  );
}

/** What was crossed out and stands nowhere else: the model should not write it again at once. Runs of ids. */
function crossedOut(doc, banned) {
  const runs = [];
  doc.tokens.forEach(({ drop, token }, i) => {
    if (!drop) return;
    if (i > 0 && doc.tokens[i - 1].drop) runs.at(-1).push(token);
    else runs.push([token]);
  });
  const spelt = (tokens) => ` ${tokens.join(" ")} `;
  const rest = spelt(doc.tokens.map(({ drop, token }) => (drop ? "|" : token)));
  const known = new Set(banned.map(spelt));
  return runs.filter((run) => !rest.includes(spelt(run)) && !known.has(spelt(run)));
}

/** What goes over the wire; what a person asks for in a gap are words. The server takes so many bans at most. */
export const stateOf = (doc, banned, most) => ({
  tokens: doc.tokens.map((token) => token.token),
  locked: doc.tokens.map((token) => token.locked),
  glued: doc.tokens.map((token) => token.glued),
  drop: doc.tokens.map((token) => token.drop),
  words: doc.counts,
  banned: [...banned, ...crossedOut(doc, banned).slice(0, Math.max(most - banned.length, 0))],
});
