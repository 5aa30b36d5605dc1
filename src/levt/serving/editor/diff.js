// The longest common subsequence of two short lists. Knows no text.

/** Pairs [i, j] of equal elements, in order: as many as possible. */
export function common(a, b, equal = (x, y) => x === y) {
  let head = 0;
  while (head < a.length && head < b.length && equal(a[head], b[head])) head += 1;
  let tail = 0;
  const room = Math.min(a.length, b.length) - head;
  while (tail < room && equal(a[a.length - 1 - tail], b[b.length - 1 - tail])) tail += 1;
  const n = a.length - head - tail;
  const m = b.length - head - tail;
  const best = Array.from({ length: n + 1 }, () => new Uint32Array(m + 1));
  for (let i = n - 1; i >= 0; i -= 1) {
    for (let j = m - 1; j >= 0; j -= 1) {
      best[i][j] = equal(a[head + i], b[head + j])
        ? best[i + 1][j + 1] + 1
        : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  const pairs = Array.from({ length: head }, (_, i) => [i, i]);
  for (let i = 0, j = 0; i < n && j < m; ) {
    if (equal(a[head + i], b[head + j])) pairs.push([head + i++, head + j++]);
    else if (best[i + 1][j] >= best[i][j + 1]) i += 1;
    else j += 1;
  }
  for (let k = tail; k > 0; k -= 1) pairs.push([a.length - k, b.length - k]);
  return pairs;
}
