// Which model the server has, and what follows from it: languages, limits, and the tokens of what was written with another.

import { byId, element } from "./dom.js";
import { draft } from "./gestures.js";
import { store } from "./keeping.js";
import { complain, say, settled } from "./notices.js";
import { render } from "./page.js";
import { setApart } from "./pieces.js";
import { keptTyping, resumeTyping, writeAll } from "./typed.js";
import { runsOf, spell } from "./typing.js";
import { api, sentences, session } from "./work.js";

/** A name that ends in two codes, as levt-en-de, tells the languages: for the eye, and for a screen reader. */
function showLanguages(name) {
  const codes = /-([a-z]{2})-([a-z]{2})$/.exec(name)?.slice(1) ?? [];
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  const parts = [["source-title", ["source"]], ["draft-title", ["frame", "whole", "term", "ban"]]];
  codes.forEach((code, i) => {
    const [title, ids] = parts[i];
    byId(title).append(" ", element("span", { className: "faint" }, names.of(code)));
    for (const id of ids) byId(id).lang = code;
  });
  draft.lang = codes[1] ?? "";
  render();
}

/** Work with a model; what was written with another one is looked up anew in its vocabulary. */
async function adopt(model) {
  const before = api.model;
  if (before && (before.name !== model.name || before.vocabulary !== model.vocabulary)) await respell(model);
  api.model = model;
  setApart(model.by_pieces);
  store();
}

/** All sentences in the tokens of another model. */
async function respell(model) {
  const tokenize = (text, inside) => api.tokenize(text, inside, model.name);
  // Somebody may go on meanwhile.
  for (let was = null; was !== session.sentences; ) {
    was = session.sentences;
    const known = sentences.kept;
    for (const { now } of known) {
      now.doc = await spell(runsOf(now.doc), tokenize);
      now.bans = await Promise.all(now.bans.map(async ({ text }) => ({ text, tokens: (await tokenize(text)).tokens })));
    }
    if (was !== session.sentences) continue;
    const typing = keptTyping(null);
    setApart(model.by_pieces);
    sentences.reopen(known, session.at);
    resumeTyping(typing);
    return;
  }
}

let meeting = null;

/** Ask the server for its model, and adopt it. */
export const meet = () => (meeting ??= greet().finally(() => (meeting = null)));

async function greet() {
  try {
    const { models, limits } = await api.models();
    await adopt(models[0]);
    api.limits = limits;
    byId("model").textContent = models[0].name;
    showLanguages(models[0].name);
    byId("iterations").max = String(limits.iterations);
    if (models[0].by_pieces) say("This model takes texts in pieces between spaces.");
    settled(meet);
    writeAll();
  } catch (error) {
    complain(error, meet);
  }
}
