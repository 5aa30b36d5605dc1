// One iteration to look at: what it keeps, deletes (struck through) and inserts (underlined), in phases.

import { element, percent } from "./dom.js";
import { cutWords, visible } from "./pieces.js";

const TAGS = { delete: ["del", "deleted"], insert: ["ins", "inserted"] };

/** Neighbours with the same mark, as runs. */
function runs(marked) {
  const found = [];
  for (const change of marked) {
    if (found.at(-1)?.mark === change.mark) found.at(-1).changes.push(change);
    else found.push({ mark: change.mark, changes: [change] });
  }
  return found;
}

/** The nodes of a frame; spaces stand outside the marks. */
export function frameNodes(frame, make = element) {
  const nodes = [];
  for (const { mark, changes } of runs(frame.marked)) {
    for (const word of cutWords(changes.map(({ token }) => token.piece))) {
      if (word.space && nodes.length) nodes.push(" ");
      const text = visible(word.text);
      if (mark === "keep") {
        const kept = changes.slice(word.start, word.end).every(({ token }) => token.locked);
        nodes.push(kept ? make("b", { title: "kept" }, text) : text);
        continue;
      }
      const [tag, what] = TAGS[mark];
      const known = changes.slice(word.start, word.end).map(({ p }) => p);
      const sure = known.every((p) => p !== null) ? `, ${percent(Math.min(...known))}` : "";
      nodes.push(make(tag, { title: what + sure }, make("span", {}, text)));
    }
  }
  return nodes;
}

export class FrameView {
  constructor(root) {
    this.root = root;
  }

  /** Show a frame; the phase is "delete", "insert", "fill", or "all" where nothing moves. */
  show(frame, phase = "all") {
    if (this.frame !== frame) {
      const nodes = frameNodes(frame);
      this.root.replaceChildren(...(nodes.length ? nodes : [element("em", { className: "faint" }, "(empty)")]));
      this.frame = frame;
    }
    this.root.dataset.phase = phase;
  }
}
