// What could stand in a place of the draft: asked of the model, and sifted for a person. Knows no menu.

import { joinPieces, startsWord, visible } from "./pieces.js";
import { api, session } from "./work.js";

const ASKED = 24;
const SHOWN = 8;

/** What could stand there: {current, found}, each found with the text to show. */
export async function offers({ start, end, space, text }, placeholders, signal) {
  const { source, doc } = session.now;
  const tokens = doc.tokens.map((token) => token.token);
  const answer = await api.alternatives({ text: source, tokens, start, end, placeholders, count: ASKED }, signal);
  const found = answer.alternatives
    // Nobody could see a lone space, or read half a character.
    .filter((one) => !/^\s*$|\ufffd/.test(joinPieces(one.pieces)))
    .map((one) => {
      const shown = visible(joinPieces(one.pieces));
      const attached = start > 0 && space !== false && !startsWord(one.pieces[0] ?? "");
      return { ...one, attached, shown: attached ? `…${shown}` : shown };
    })
    .filter((one) => one.shown !== text);
  // The end of a word is of no use where a word is wanted, but in some scripts no piece begins one.
  const whole = found.filter((one) => !one.attached);
  return { current: answer.current, found: (whole.length ? whole : found).slice(0, SHOWN) };
}
