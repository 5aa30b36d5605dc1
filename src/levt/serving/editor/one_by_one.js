// Many sentences, each translated by itself: which they are, and the list that is made of them.

import { sentencesOf } from "./cutting.js";
import { byId, plural } from "./dom.js";
import { stay } from "./focus.js";
import { draft } from "./gestures.js";
import { translated } from "./model_turn.js";
import { complain, say } from "./notices.js";
import { inOrder } from "./order.js";
import { turn } from "./stage.js";
import { blank } from "./state.js";
import { written } from "./whole_text.js";
import { api, hasDraft, quoted, sentences, session } from "./work.js";

const MOST_SHOWN = 40;

/** The list takes the place of these: what was written there meanwhile would be lost. */
const fields = [byId("source"), byId("term")];

/** Enough of a text to know it by. */
const beginning = (text) => (text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN).trimEnd()}…` : text);

/** The sentences of the source, where it can become a list of them: nothing that is there may be lost. */
export const apart = () =>
  hasDraft() || session.now.terms.length || sentences.many || api.model?.by_pieces ? [] : sentencesOf(session.now.source);

/** The sentences of the list, or of the source that is to become one. */
function listed() {
  if (sentences.many) return session.sentences;
  const { now, gestures } = session;
  return sentencesOf(now.source).map(({ text, space }) => ({ ...blank(text, { bans: now.bans }), gestures, space }));
}

/** Where something is still to be translated; what has terms may be begun by itself. */
export const untranslated = (list) => [...list.keys()].filter((i) => !hasDraft(list[i].now) && !list[i].now.terms.length && list[i].now.source.trim());

/** Every sentence by itself. */
export const oneByOne = () =>
  inOrder(async () => {
    if (!turn.busy && (await written())) void makeList();
  });

export async function makeList() {
  const before = listed();
  const todo = untranslated(before);
  for (const field of fields) field.readOnly = true;
  const coming = turn.translateAll(todo.map((i) => before[i]), oneByOne);
  const stays = stay();
  const results = await coming;
  for (const field of fields) field.readOnly = false;
  if (!results.length) return;
  const list = [...listed()];
  const refused = [];
  results.forEach((result, k) => {
    if (result instanceof Error) refused.push({ error: result, text: list[todo[k]].now.source });
    else list[todo[k]] = turn.taken(list[todo[k]], result);
  });
  const done = translated(results).length;
  if (done) session.exchange("translated the sentences one by one", list, sentences.many ? session.at : 0);
  say(done === todo.length ? `${plural(done, "sentence")} translated.` : `${done} of ${todo.length} sentences translated; the button below the source translates the others.`);
  // Where it failed or was stopped, there is something to try again, and they come up then.
  if (refused.length && results.length === todo.length) {
    complain(refused[0].error, null, { more: `Not translated: ${refused.map(({ text }) => quoted(beginning(text))).join(", ")}.` });
  }
  if (done && stays()) draft.focus(0);
}

/** Offer it, where there are several. */
export function splitOffer() {
  const several = sentences.many ? untranslated(session.sentences).length : apart().length;
  return {
    there: several >= (sentences.many ? 1 : 2),
    text: `Translate ${plural(several, "sentence")} ${sentences.many ? "without a draft" : "one by one"}`,
  };
}
