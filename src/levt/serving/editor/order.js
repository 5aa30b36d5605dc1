// One thing after the other: what is asked for while something before it waits for the server is done behind it, in
// the sentence where that leaves the person. Knows no page.

let last = Promise.resolve();

/** Do this behind what was asked for before. What goes through here must not wait for more that does. */
export function inOrder(act) {
  const mine = last.then(act);
  last = mine.catch(() => {});
  return mine;
}
