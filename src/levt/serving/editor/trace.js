// A trace replayed: every state as tokens that know who they are, every iteration as marked tokens.
// Knows no page.

import { common } from "./diff.js";

let lastId = 0;

/** A token of the draft: written with `fill`, last kept with `keep` (probabilities, where known). */
export const newToken = (token, piece, more = {}) => ({
  id: (lastId += 1),
  token,
  piece,
  fill: null,
  keep: null,
  locked: false,
  glued: false,
  drop: false,
  mine: false,
  /** The numbers of the tokens in whose place a person has put this one. */
  instead: [],
  ...more,
});

/** What one iteration does to tokens, in reading order: [{mark: "keep" | "delete" | "insert", token, p}]. */
export function changes(tokens, iteration) {
  const { script, pieces, drop_probs: dropP = [], fill_probs: fillP = [] } = iteration;
  const marked = [];
  let gap = 0;
  let filled = 0;
  const open = () => {
    for (let k = 0; k < script.counts[gap]; k += 1, filled += 1) {
      const p = fillP?.[filled] ?? null;
      marked.push({ mark: "insert", p, token: newToken(script.fill[filled], pieces[filled], { fill: p }) });
    }
    gap += 1;
  };
  tokens.forEach((token, i) => {
    const p = dropP?.[i] ?? null;
    if (script.drop[i]) {
      marked.push({ mark: "delete", p, token });
    } else {
      open();
      marked.push({ mark: "keep", p, token: { ...token, keep: p, drop: false } });
    }
  });
  open();
  return marked;
}

/** The tokens that stand after an iteration. */
export const after = (marked) => marked.filter(({ mark }) => mark !== "delete").map(({ token }) => token);

/** The tokens where a trace begins; those that were there already stay who they are. */
export function begin(draft, known) {
  const same = new Map(common(draft.tokens, known, (token, other) => token === other.token));
  return draft.tokens.map((token, i) =>
    same.has(i) ? { ...known[same.get(i)] } : newToken(token, draft.pieces[i], { mine: true }),
  );
}

/** All frames of a trace: the draft, then one per iteration; each {marked, tokens, deleted, inserted}. */
export function frames(trace, known = []) {
  let tokens = begin(trace.draft, known);
  const found = [{ marked: tokens.map((token) => ({ mark: "keep", p: null, token })), tokens, deleted: 0, inserted: 0 }];
  for (const iteration of trace.iterations) {
    const marked = changes(tokens, iteration);
    tokens = after(marked);
    const count = (mark) => marked.filter((change) => change.mark === mark).length;
    found.push({ marked, tokens, deleted: count("delete"), inserted: count("insert") });
  }
  return found;
}
