// Words and gaps as they are read aloud, and how sure the model is of them. Knows no page.

import { percent, plural } from "./dom.js";
import { visible } from "./pieces.js";

const UNSURE = 0.8;
const DOUBTFUL = 0.5;

/** How sure the model is of a word: "", "unsure" or "doubtful". */
export function doubt(word) {
  if (word.locked || word.mine || word.confidence === null || word.confidence >= UNSURE) return "";
  return word.confidence < DOUBTFUL ? "doubtful" : "unsure";
}

/** The text of a word, or nothing where there is nothing to see. */
export function seen(text) {
  const shown = visible(text);
  return /[^\p{Cf}\p{Z}]/u.test(shown) ? shown : "";
}

export function wordLabel(word) {
  const said = [seen(word.text) || "space"];
  if (word.locked) said.push("kept");
  if (word.drop) said.push("crossed out");
  if (word.fresh) said.push("new");
  const how = doubt(word);
  if (how) said.push(`${how}, ${percent(word.confidence)}`);
  return said.join(", ");
}

export function gapLabel(before, after, count) {
  const place = before
    ? after
      ? `between ${before.text} and ${after.text}`
      : `after ${before.text}`
    : after
      ? `before ${after.text}`
      : "in the empty draft";
  const asked = count === null ? "" : count === 0 ? ", nothing may come here" : `, ${plural(count, "word")} asked for`;
  return `Gap ${place}${asked}`;
}
