// Which model the server has, and what follows from it: languages, limits, and the tokens of what was written with another.

import { byId, element } from "./dom.js";
import { draft } from "./gestures.js";
import { store } from "./keeping.js";
import { complain, say } from "./notices.js";
import { render } from "./page.js";
import { setApart } from "./pieces.js";
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
  const known = before && (before.name !== model.name || before.vocabulary !== model.vocabulary) ? sentences.kept : [];
  const read = known.map(({ now }) => runsOf(now.doc));
  api.model = model;
  setApart(model.by_pieces);
  const tokenize = (text, inside) => api.tokenize(text, inside);
  try {
    for (const [i, { now }] of known.entries()) {
      now.doc = await spell(read[i], tokenize);
      now.bans = await Promise.all(now.bans.map(async ({ text }) => ({ text, tokens: (await tokenize(text)).tokens })));
    }
  } catch (error) {
    api.model = before;
    setApart(before.by_pieces);
    throw error;
  }
  if (known.length) sentences.reopen(known, session.at);
  else store();
}

/** Ask the server for its model, and adopt it. */
export async function meet() {
  try {
    const { models, limits } = await api.models();
    await adopt(models[0]);
    api.limits = limits;
    byId("model").textContent = models[0].name;
    showLanguages(models[0].name);
    byId("iterations").max = String(limits.iterations);
    if (models[0].by_pieces) say("This model takes texts in pieces between spaces.");
  } catch (error) {
    complain(error, meet);
  }
}
