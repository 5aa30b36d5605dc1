// The session to take away: its traces as JSON, or a page that holds everything and asks for nothing.
// Knows no button.

import { textOf } from "./document.js";
import { frameNodes } from "./frame_view.js";

const ACTIONS = {
  translate: "The model translated",
  continue: "The model went on",
  "re-sync": "The model followed the source",
  step: "The model made one step",
};

/** A trace as the library reads it: probabilities that are not known have no key. */
function strict(trace) {
  const iterations = trace.iterations.map((iteration) =>
    Object.fromEntries(
      Object.entries(iteration).filter(([name, value]) => !name.endsWith("_probs") || value?.length),
    ),
  );
  return { ...trace, iterations };
}

/** Plain JSON values: the text, and every turn of the model with its trace; of several sentences, each. */
export function sessionJson(sentences, model) {
  const each = sentences.session.sentences.map((sentence) => sentenceJson(sentence, model));
  if (!sentences.many) return each[0];
  const source = sentences.text(({ now }) => now.source);
  return { version: 1, model, source, text: sentences.text(), sentences: each };
}

function sentenceJson(sentence, model) {
  return {
    version: 1,
    model,
    source: sentence.now.source,
    text: textOf(sentence.now.doc),
    terms: sentence.now.terms,
    banned: sentence.now.bans.map((ban) => ban.text),
    turns: sentence.turns
      .filter((turn) => turn.result.trace)
      .map(({ action, source, gestures, result }) => ({
        action,
        source,
        gestures,
        stopped: result.stopped,
        score: result.score,
        trace: strict(result.trace),
      })),
    gestures: sentence.gestures,
  };
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1b1f; --paper: #fff; --faint: #5f5d66; --line: #d9d7de; --ins: #7416a6; --ins-band: #f5e8fc; --del: #b3261e; --del-band: #fdeceb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6ec; --paper: #17161a; --faint: #a9a6b2; --line: #3b3942; --ins: #dcaeff; --ins-band: #35204a; --del: #ffa49c; --del-band: #452321; } }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
.sentence { border-top: 2px solid var(--line); padding-top: 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin: 2rem 0 0.25rem; }
.faint, th { color: var(--faint); font-weight: 400; } .final { font-size: 1.25rem; }
table { border-collapse: collapse; width: 100%; } tr { border-top: 1px solid var(--line); }
th, td { text-align: start; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; } th { width: 6rem; font-size: 0.85rem; }
td, .text { overflow-wrap: anywhere; }
.text { white-space: pre-wrap; }
ins { color: var(--ins); background: var(--ins-band); text-decoration: underline; text-underline-offset: 0.2em; }
del { color: var(--del); background: var(--del-band); text-decoration: line-through; }`;

/** A whole page without a script; every text is put in as text. */
export function sessionHtml(sentences, model) {
  const page = document.implementation.createHTMLDocument("levt: a session");
  const make = (tag, properties = {}, ...children) => {
    const made = page.createElement(tag);
    for (const [name, value] of Object.entries(properties)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  page.documentElement.lang = "en";
  page.head.prepend(
    make("meta", { charset: "utf-8" }),
    make("meta", { "http-equiv": "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" }),
    make("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
  );
  const main = make("main");
  main.append(
    make("h1", {}, "A text, edited by a person and a model"),
    make("p", { class: "faint text", dir: "auto" }, sentences.text(({ now }) => now.source)),
    make("p", { class: "final text", dir: "auto" }, sentences.text() || "(empty)"),
    make("p", { class: "faint" }, `Model: ${model}. `, make("del", {}, "deleted"), " ", make("ins", {}, "inserted"), "; rest the pointer on an edit for its probability."),
  );
  sentences.session.sentences.forEach((sentence, number) => {
    if (sentences.many) main.append(make("h2", { class: "sentence" }, `${number + 1}. `, make("bdi", {}, sentence.now.source)));
    story(sentence, main, make);
  });
  page.body.append(main);
  // This page's own policy would refuse a style element even in a document that is never shown.
  const html = page.documentElement.outerHTML.replace("</head>", () => `<style>${STYLE}</style></head>`);
  return `<!doctype html>\n${html}\n`;
}

/** What the person and the model did, turn by turn. */
function story(sentence, main, make) {
  sentence.turns.forEach((turn, i) => {
    if (turn.gestures.length) main.append(make("h2", {}, "The person"), make("p", {}, `${turn.gestures.join("; ")}.`));
    const rows = turn.frames.map((frame, k) =>
      make("tr", {}, make("th", { scope: "row" }, k === 0 ? "draft" : `iteration ${k}`), make("td", { dir: "auto" }, ...(frame.marked.length ? frameNodes(frame, make) : ["(empty)"]))),
    );
    const changed = i > 0 && sentence.turns[i - 1].source !== turn.source;
    main.append(make("h2", {}, ACTIONS[turn.action] ?? turn.action));
    if (changed) main.append(make("p", { class: "faint", dir: "auto" }, `Source now: ${turn.source}`));
    main.append(make("table", {}, make("tbody", {}, ...rows)));
  });
  if (sentence.gestures.length) main.append(make("h2", {}, "The person"), make("p", {}, `${sentence.gestures.join("; ")}.`));
}

/** Hand a file to the person. */
export function download(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
