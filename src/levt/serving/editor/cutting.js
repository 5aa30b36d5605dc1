// Where a sentence ends: the rules of levt.text.sentences, line by line, so that page and server cut alike (a test
// compares them). Knows no page and no session.

const NEAR = 32;
const END = /(?<![.!?…؟۔।])[.!?…؟۔।]+["'”’»«“)\]]*(?<space>\s+)|[。！？｡]+(?![。！？｡」』”’）】])(?<none>\s*)/gu;
const BREAK = /\r\n|[\n\r\v\f\x85\u2028\u2029]/gu;
const WORD = "[\\p{L}\\p{N}_]";
const START = `(?:^|(?<=[^\\p{L}\\p{N}_]))`;
const ABBREVIATED = new RegExp(
  `${START}(?:Mrs?|Ms|Dr|Prof|Rev|Hon|Gov|Sen|Rep|Gen|Maj|Col|Capt|Lt|Sgt|St|Mt|Ft|[JS]r|vs|etc|cf|ca|al|est|approx` +
    "|Inc|Ltd|Co|Corp|Dept|Univ|eds?|Str|bzw|usw|evtl|ggf|inkl|Hr|Fr|Mio|Mrd|dt|engl|vgl)\\.$",
  "u",
);
const NUMBERED = new RegExp(
  `${START}(?:Nos?|Nr|Figs?|Eqs?|Sec|Vols?|pp?|Abs|Art|Bd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\\.$`,
  "u",
);
const DOTTED = new RegExp(`${START}(?:${WORD}{1,3}\\.)*${WORD}{1,3}\\.${WORD}{1,3}\\.$|${START}[\\p{L}\\p{Nl}\\p{No}]\\.$`, "u");
const COUNTED = /(?:^|\s)\p{Nd}{1,2}\.$|^[^\p{L}\p{N}_]*\p{Nd}+\.$/u;

const ITEM = /^(?:[-+*•◦▪‣·–—]\s|(?:\p{Nd}{1,3}|[\p{L}\p{N}_])[.)]\s)/u;
const STOPPED = /[.!?…:؟۔।。！？｡]["'”’»«“)\]」』）】]*$/u;
const WIDE = 50;

const first = (text) => /[\p{L}\p{N}]/u.exec(text)?.[0] ?? "";
const small = (character) => /\p{Lowercase}/u.test(character);
const hasWord = (text) => /\p{L}/u.test(text);

/** The sentences of a text, each with the white space behind it. */
export function sentencesOf(text) {
  return lines(text.trim()).flatMap((line) => {
    const found = inLine(line.text);
    found[found.length - 1].space = line.space;
    return found;
  });
}

/** The parts between line breaks that end a sentence; what has no word belongs to the next of them. */
function lines(text) {
  const breaks = [...text.matchAll(/\s+/gu)]
    .map((run) => ({ start: run.index, end: run.index + run[0].length, count: run[0].match(BREAK)?.length ?? 0 }))
    .filter(({ count }) => count > 0);
  const last = text.search(/[\p{L}\p{N}][^\p{L}\p{N}]*$/u);
  const found = [];
  let [start, looked, words] = [0, 0, false];
  for (let at = 0; at < breaks.length; ) {
    let end = at;
    while (end < breaks.length && breaks[end].count === 1) end += 1;
    const inside = breaks.slice(at, end);
    const starts = [at > 0 ? breaks[at - 1].end : 0, ...inside.map((run) => run.end)];
    const ends = [...inside.map((run) => run.start), breaks[end]?.start ?? text.length];
    const wrapped =
      inside.some((run) => small(first(text.slice(run.end, run.end + NEAR)))) ||
      full(starts.map((start, i) => text.slice(start, ends[i])));
    for (const run of [...(wrapped ? [] : inside), ...breaks.slice(end, end + 1)]) {
      words ||= hasWord(text.slice(looked, run.start));
      looked = run.end;
      if (words && looked <= last) {
        found.push({ text: text.slice(start, run.start), space: text.slice(run.start, run.end) });
        [start, words] = [looked, false];
      }
    }
    at = end + 1;
  }
  return start < text.length ? [...found, { text: text.slice(start), space: "" }] : found;
}

/** Whether lines are long, each too full for the first word of the next, and some end in the middle of a sentence. */
function full(lines) {
  const length = (line) => Array.from(line).length;
  const width = lines.reduce((most, line) => Math.max(most, length(line)), 0);
  return (
    width >= WIDE &&
    !lines.slice(0, -1).every((line) => STOPPED.test(line)) &&
    lines.slice(1).every((after, i) => length(lines[i]) + 1 + length(after.split(/\s+/u, 1)[0]) > width && !ITEM.test(after))
  );
}

/** The sentences of a line, by their punctuation. */
function inLine(text) {
  const found = [];
  let [start, looked, words] = [0, 0, false];
  for (const end of text.matchAll(END)) {
    const wide = end.groups.space === undefined;
    const space = wide ? end.groups.none : end.groups.space;
    const after = end.index + end[0].length;
    const stop = after - space.length;
    words ||= hasWord(text.slice(looked, stop));
    looked = after;
    if (words && closes(text.slice(Math.max(start, stop - NEAR), stop), text.slice(after, after + NEAR), wide)) {
      found.push({ text: text.slice(start, stop), space });
      [start, words] = [after, false];
    }
  }
  if (start < text.length) found.push({ text: text.slice(start), space: "" });
  return found;
}

function closes(before, behind, wide) {
  const next = first(behind);
  if (!next || small(next)) return false;
  if (wide) return true;
  const bare = before.replace(/["'”’»«“)\]]+$/u, "");
  const dots = /(?:\.\.|…)$/u.test(bare);
  if (dots || /[?!]$/u.test(bare)) return !(dots && /\p{N}/u.test(next));
  if (NUMBERED.test(bare) && /\p{N}/u.test(next)) return false;
  return !(DOTTED.test(bare) || COUNTED.test(bare) || ABBREVIATED.test(bare));
}
