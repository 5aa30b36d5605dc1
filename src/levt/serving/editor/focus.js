// Where the person is on the page, and where they are taken if that goes away. Knows nothing of what is there.

/** Hide or show an element; where it had the focus, `heir` gives what gets it. */
export function hide(one, hidden, heir) {
  const held = hidden && one.contains(document.activeElement);
  one.hidden = hidden;
  if (held) heir()?.focus();
}

/** Note where the person is; gives a function that tells whether they have not gone elsewhere since. */
export function stay() {
  const from = document.activeElement;
  const part = from.closest("#draft") ?? from;
  return () => {
    const now = document.activeElement;
    return now === document.body || (part !== document.body && part.contains(now));
  };
}

/** Whether the focus is nowhere, or in what has just been closed: the browser finds that out later. */
export const isLost = (closed) => document.activeElement === document.body || closed.contains(document.activeElement);

/** Whether a dialog lies over the page. */
export const isCovered = () => document.querySelector("dialog[open]") !== null;
