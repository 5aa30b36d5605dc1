// Pieces to text: a piece that starts with ▁ begins a new word, neighbouring byte pieces make up characters.
// Knows no document.

const SPACE = "▁";
const ESCAPE = "\ue000";
const BYTE = /^<0x([0-9A-F]{2})>$/;
const LETTERS = /^[\p{L}\p{M}\p{N}_]/u;
const SPACELESS = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

let apart = false;

/** Say whether the model's pieces are words between spaces, without ▁. */
export const setApart = (yes) => (apart = yes);

export const startsWord = (piece) => apart || piece.startsWith(SPACE);

/** The bytes of a run of byte pieces as text; broken ones become U+FFFD each, as on the server. */
function bytesText(run) {
  const bytes = Uint8Array.from(run, (piece) => parseInt(BYTE.exec(piece)[1], 16));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "\ufffd".repeat(bytes.length);
  }
}

/** A text with everything written out that does something else than being seen: controls, turned directions. */
export const visible = (text) =>
  text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, (one) => {
    const code = one.codePointAt(0).toString(16);
    return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
  });

/** A piece with its space; in traces it is there already. */
const spaced = (piece) => (apart && !piece.startsWith(SPACE) ? SPACE + piece : piece);

/** Cut pieces into atoms that cannot be shown apart: one piece, or a run of byte pieces. */
function atoms(pieces) {
  const found = [];
  for (let start = 0; start < pieces.length; ) {
    let end = start + 1;
    const bytes = !apart && BYTE.test(pieces[start]);
    while (bytes && end < pieces.length && BYTE.test(pieces[end])) end += 1;
    found.push({ start, end, text: bytes ? bytesText(pieces.slice(start, end)) : spaced(pieces[start]) });
    start = end;
  }
  return found;
}

const unmark = (text) =>
  text.replaceAll(SPACE, " ").replaceAll(`${ESCAPE}1`, SPACE).replaceAll(`${ESCAPE}0`, ESCAPE);

/** The text of pieces that begin a text. */
export function joinPieces(pieces) {
  const text = unmark(
    atoms(pieces)
      .map((atom) => atom.text)
      .join(""),
  );
  return text.startsWith(" ") ? text.slice(1) : text;
}

const scriptOf = (text) => (SPACELESS.test(text) ? "spaceless" : LETTERS.test(text) ? "letters" : "marks");

/**
 * Pieces as words and punctuation marks, each with the pieces it is made of: {start, end, space, text}.
 * Scripts without spaces have one word per piece.
 */
export function cutWords(pieces) {
  const words = [];
  for (const atom of atoms(pieces)) {
    const space = atom.text.startsWith(SPACE);
    const text = unmark(space ? atom.text.slice(1) : atom.text);
    const last = words.at(-1);
    const script = text ? scriptOf(text) : last && !space ? last.script : "letters";
    const open = last && last.text === "";
    if (last && !space && (open || (script === last.script && script !== "spaceless"))) {
      last.text += text;
      last.end = atom.end;
      last.script = script;
    } else {
      words.push({ start: atom.start, end: atom.end, space, text, script });
    }
  }
  return words;
}

/** Whether a term stands in a text as a whole word or words, as the server looks for it. */
export function stands(term, text) {
  const wanted = term.normalize();
  const inWord = (some) => /^[\p{L}\p{M}\p{N}]/u.test(some) && !SPACELESS.test(some);
  const inside = (at) => at > 0 && inWord(Array.from(text.slice(0, at)).at(-1)) && inWord(text.slice(at));
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) {
    if (!inside(at) && !inside(at + wanted.length)) return true;
  }
  return false;
}

/** A text in the same units as `cutWords`, for comparing; a space that does not break is a mark, and stays. */
export function cutText(text) {
  const unit =
    /([^\S\xa0\u202f]*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}_]+|(?:[^\s\p{L}\p{N}_]|[\xa0\u202f])+)/gu;
  return Array.from(text.trim().matchAll(unit), ([, space, word], i) => ({
    space: i === 0 || space !== "",
    text: word,
  }));
}
