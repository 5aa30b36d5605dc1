// The page: puts the parts together. Each gesture becomes one change of the session; each change, one render.

import { Api } from "./api.js";
import { chips } from "./chips.js";
import { sentencesOf } from "./cutting.js";
import { ask, crossWord, documentOf, keepWord, replace, textOf } from "./document.js";
import { byId, element, isOff, plural, switchOff } from "./dom.js";
import { DraftView } from "./draft_view.js";
import { FrameView } from "./frame_view.js";
import { gapMenu, wordMenu } from "./menus.js";
import { ModelTurn } from "./model_turn.js";
import { complain, say, settle, setUpNotices } from "./notices.js";
import { joinPieces, setApart, stands, startsWord, visible } from "./pieces.js";
import { Player } from "./player.js";
import { closePopover, openPopover } from "./popover.js";
import { recall, recallToken, remember, rememberToken } from "./remember.js";
import { download, sessionHtml, sessionJson } from "./share.js";
import { setUpShortcuts, shortcutTable } from "./shortcuts.js";
import { Sentences } from "./sentences.js";
import { blank, Session } from "./state.js";
import { tokenDialog } from "./token_dialog.js";
import { placeNow, retype, runsOf, spell, withText } from "./typing.js";

const FOLLOW_AFTER = 900;
/** Milliseconds after a keystroke in which what takes time with long texts waits: keeping the work, counting sentences. */
const PAUSE = 250;
const LONG = 2000;
const MOST_ASKED = 32;
const SHOWN_ALTERNATIVES = 8;
const ASKED_ALTERNATIVES = 24;

const session = new Session();
const sentences = new Sentences(session);
const api = new Api({
  token: recallToken(),
  askToken: async (refused) => {
    const token = await tokenDialog(refused);
    if (token) rememberToken(token);
    return token;
  },
});
const source = byId("source");
const whole = byId("whole");
const frameView = new FrameView(byId("frame"));
const quoted = (text) => `“${text}”`;
/** What was typed into the draft and is not written yet, in order: {text, read, label, keep}. */
let unwritten = [];
let writing = null;

// ---- the draft ------------------------------------------------------------------------------------------

const draft = new DraftView(byId("draft"), {
  keep(word) {
    session.commit(`${word.locked ? "let go of" : "kept"} ${quoted(word.text)}`, { doc: keepWord(session.now.doc, itemNow(word)) });
  },
  cross(word) {
    session.commit(`${word.drop ? "took back crossing out" : "crossed out"} ${quoted(word.text)}`, { doc: crossWord(session.now.doc, itemNow(word)) });
  },
  ask(gap, count) {
    if (count === gap.count || count > MOST_ASKED) return;
    const what = count === null ? "left a gap to the model" : count === 0 ? "closed a gap" : `asked for ${plural(count, "word")} in a gap`;
    session.commit(what, { doc: ask(session.now.doc, itemNow(gap).start, count) });
  },
  type(place, text, { pasted = false } = {}) {
    const first = pasted && session.now.doc.tokens.length === 0;
    const label = first ? "gave a draft" : text.trim() ? `wrote ${quoted(text.trim())}` : `deleted ${quoted(place.text)}`;
    unwritten.push({ text: text.trim(), label, keep: !first, read: (doc) => withText(doc, placeNow(doc, place), text) });
    writeAll();
  },
  open(item, anchor) {
    const find = (placeholders, signal) => findAlternatives(itemNow(item), placeholders, signal);
    const take = (one) => session.commit(`chose ${quoted(one.shown)}`, { doc: replace(session.now.doc, itemNow(item), one) });
    const edit = () => draft.edit(itemNow(item), item.text ?? "");
    if (item.kind === "gap") {
      gapMenu(anchor, item, MOST_ASKED, { ask: (count) => this.ask(item, count), edit, find, take });
    } else {
      wordMenu(anchor, item, { keep: () => this.keep(item), cross: () => this.cross(item), edit, ban: () => banWord(item), find, take });
    }
  },
});

/** A word or a gap where it is now: something may have been written since it was pressed. */
const itemNow = (item) => ({ ...item, ...placeNow(session.now.doc, item) });

async function findAlternatives({ start, end, space, text }, placeholders, signal) {
  const { source: x, doc } = session.now;
  const tokens = doc.tokens.map((token) => token.token);
  const answer = await api.alternatives({ text: x, tokens, start, end, placeholders, count: ASKED_ALTERNATIVES }, signal);
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
  return { current: answer.current, found: (whole.length ? whole : found).slice(0, SHOWN_ALTERNATIVES) };
}

/** Write the draft anew; `read` gives the text for a document, and only what changed is looked up. */
async function write({ read, label, keep, again, giveUp }) {
  try {
    for (;;) {
      const before = session.now.doc;
      const doc = await retype(before, read(before), (part, inside) => api.tokenize(part, inside), { keep });
      // Whoever is quick has kept another word meanwhile.
      if (session.now.doc !== before) continue;
      if (doc !== before) session.commit(label, { doc });
      return true;
    }
  } catch (error) {
    const waiting = unwritten.filter(({ text }) => text).map(({ text }) => quoted(text));
    complain(error, again, { giveUp, more: waiting.length ? `Not written yet: ${waiting.join(", ")}.` : "" });
    return false;
  }
}

/** Write down what was typed, one after the other; gives whether all of it is. */
function writeAll() {
  const before = writing;
  writing = (async () => {
    await before;
    while (unwritten.length) {
      if (!(await write({ ...unwritten[0], again: writeAll, giveUp: () => (unwritten = []) }))) return false;
      unwritten.shift();
    }
    return true;
  })();
  return writing;
}

/** What is typed into the draft is written down before anything else is done with it; gives whether it could be. */
async function written() {
  draft.input?.blur();
  if (!whole.hidden) await toggleWhole();
  return whole.hidden && writeAll();
}

function banWord(word) {
  const ban = { text: word.text, tokens: word.tokens.map((token) => token.token) };
  const bans = [...session.now.bans.filter((other) => other.text !== ban.text), ban];
  session.commit(`banned ${quoted(word.text)}`, { bans, doc: crossWord(session.now.doc, itemNow(word), true) });
}

async function toggleWhole() {
  if (turn.busy) return;
  const open = whole.hidden;
  if (open) {
    if (!(await written())) return;
    player.seek(player.frames.length);
    whole.value = textOf(session.now.doc);
  } else {
    // A first draft is there to be improved; a correction of one is there to stay.
    const first = session.now.doc.tokens.length === 0;
    const label = first ? "gave a draft" : "edited the draft as text";
    if (!(await write({ read: () => whole.value, label, keep: !first, again: toggleWhole }))) return;
  }
  whole.hidden = !open;
  byId("as-text").setAttribute("aria-pressed", String(open));
  byId("as-text").textContent = open ? "Done" : "Edit as text";
  render();
  store();
  if (open) whole.focus();
  else draft.focus();
}

// ---- the model ------------------------------------------------------------------------------------------

const player = new Player({
  onShow(frame, phase) {
    if (frame) frameView.show(frame, phase);
    byId("frame").hidden = !frame;
    byId("draft").hidden = Boolean(frame) || !whole.hidden;
    byId("empty").hidden = Boolean(frame) || !whole.hidden || session.now.doc.tokens.length > 0;
  },
  onTell: (moment) => say(`${moment}.`, { seen: false }),
  onTake(i) {
    const { tokens } = player.frames[i];
    session.commit(`went back to ${player.describe(i).split(":")[0].toLowerCase()}`, { doc: documentOf(tokens) });
    player.seek(player.frames.length);
    draft.focus();
  },
});

const turn = new ModelTurn({
  api,
  session,
  player,
  options: () => ({
    min_edit: Number(byId("dial").value),
    empty_gap_penalty: Number(byId("length").value),
    max_iterations: Math.min(Math.max(Math.round(Number(byId("iterations").value)) || 1, 1), Number(byId("iterations").max)),
  }),
  onBusy: () => render(),
});

/** Let the model take a turn; without an action, the one that fits: go on, or begin. */
async function run(action = null) {
  clearTimeout(following);
  // What is translated one by one is stopped only by Stop: another turn would end up in one of the sentences.
  if (source.readOnly) return;
  closePopover({ back: false });
  if (!whole.hidden) await toggleWhole();
  const back = byId("draft").contains(document.activeElement);
  if (!whole.hidden || !(await written())) return;
  await banning;
  const wanted = action ?? (hasDraft() ? "continue" : "translate");
  // Line breaks would come into the draft, where nobody could see them; between sentences they are kept.
  const lines = wanted === "translate" && apart().some(({ space }) => /[\n\r\u2028\u2029]/.test(space));
  if (lines) return oneByOne();
  await turn[wanted]();
  if (back) draft.focus();
}

/** The sentences of the source, where it can become a list of them: nothing that is there may be lost. */
const apart = () =>
  hasDraft() || session.now.terms.length || sentences.many || api.model?.by_pieces ? [] : sentencesOf(session.now.source);

/** The sentences of the list, or of the source that is to become one. */
function listed() {
  if (sentences.many) return session.sentences;
  const { now, gestures } = session;
  return sentencesOf(now.source).map(({ text, space }) => ({ ...blank(text, { bans: now.bans }), gestures, space }));
}

/** Where something is still to be translated; what has terms may be begun by itself. */
const untranslated = (list) => [...list.keys()].filter((i) => !hasDraft(list[i].now) && !list[i].now.terms.length && list[i].now.source.trim());

/** Every sentence by itself. */
async function oneByOne() {
  if (turn.busy || !(await written())) return;
  await banning;
  const before = listed();
  const todo = untranslated(before);
  // The list takes the place of the source: what was written there meanwhile would be lost.
  source.readOnly = true;
  const results = await turn.translateAll(todo.map((i) => before[i]), oneByOne);
  source.readOnly = false;
  if (!results.length) return;
  const list = [...listed()];
  results.forEach((result, k) => (list[todo[k]] = turn.taken(list[todo[k]], result)));
  session.exchange("translated the sentences one by one", list, sentences.many ? session.at : 0);
  const all = results.length === todo.length;
  say(all ? `${plural(todo.length, "sentence")} translated.` : `${results.length} of ${todo.length} sentences translated; the button below the source translates the others.`);
  draft.focus(0);
}

async function goTo(i) {
  if (turn.busy) return;
  closePopover({ back: false });
  clearTimeout(following);
  if (!(await written()) || !sentences.go(i)) return;
  // What failed there is not to be tried again here.
  settle();
  say(`Sentence ${i + 1}.`);
}

async function join() {
  if (turn.busy) return;
  if (!(await written())) return;
  settle();
  sentences.join();
  draft.focus();
}

const hasDraft = ({ doc } = session.now) => doc.tokens.length > 0 || doc.counts.some((count) => count !== null);
const goOn = () => run();

let following = null;
/** Whether the change that is being shown is a keystroke in the source. */
let typing = false;

source.addEventListener("input", () => {
  typing = true;
  session.typeSource(source.value);
  typing = false;
  clearTimeout(following);
  if (byId("follow").checked && hasDraft() && source.value.trim()) {
    following = setTimeout(() => session.now.source !== session.now.synced && whole.hidden && !draft.input && run("continue"), FOLLOW_AFTER);
  }
});

// ---- steering -------------------------------------------------------------------------------------------

let banning = null;

async function banText(text) {
  try {
    const { tokens } = await api.tokenize(text);
    session.commit(`banned ${quoted(text)}`, { bans: [...session.now.bans.filter((ban) => ban.text !== text), { text, tokens }] });
  } catch (error) {
    complain(error, () => banText(text));
  }
}

const showTerms = chips({
  list: "terms",
  field: "term",
  button: "term-add",
  onAdd: (text) => session.commit(`demanded ${quoted(text)}`, { terms: [...session.now.terms.filter((term) => term !== text), text] }),
  onRemove: (i) => session.commit(`no longer demanded ${quoted(session.now.terms[i])}`, { terms: session.now.terms.filter((_, k) => k !== i) }),
});
const showBans = chips({
  list: "bans",
  field: "ban",
  button: "ban-add",
  onAdd: (text) => (banning = banText(text)),
  onRemove: (i) => session.commit(`allowed ${quoted(session.now.bans[i].text)}`, { bans: session.now.bans.filter((_, k) => k !== i) }),
});

function showDials() {
  const dial = Number(byId("dial").value);
  const length = Number(byId("length").value);
  const told = dial === 0 ? "off" : dial === 1 ? "edit nothing" : `only edits above ${Math.round(50 * (1 + dial))} %`;
  byId("dial-value").textContent = told;
  byId("dial").setAttribute("aria-valuetext", told);
  byId("length-value").textContent = length > 0 ? `+${length}` : String(length);
}
for (const id of ["dial", "length"]) byId(id).addEventListener("input", showDials);

/** What is set, and how to set it again. */
const SETTINGS = ["dial", "length", "iterations"];
const settings = () => ({ follow: byId("follow").checked, ...Object.fromEntries(SETTINGS.map((id) => [id, byId(id).value])) });
function set({ follow = true, ...values }) {
  byId("follow").checked = follow;
  for (const id of SETTINGS) byId(id).value = values[id] ?? byId(id).defaultValue;
  showDials();
}
for (const id of ["follow", ...SETTINGS]) byId(id).addEventListener("change", () => store());

// ---- the page -------------------------------------------------------------------------------------------

/** Hide or show an element; where it had the focus, `heir` gives what gets it. */
function hide(one, hidden, heir) {
  const held = hidden && one.contains(document.activeElement);
  one.hidden = hidden;
  if (held) heir().focus();
}

function render() {
  const { now } = session;
  const { busy } = turn;
  if (source.value !== now.source) source.value = now.source;
  // While a person types into the draft, nothing else may redraw it.
  if (!draft.input) {
    const story = session.turns[now.turn]?.frames ?? [];
    const old = new Set(story[0]?.tokens.map((token) => token.id));
    const fresh = new Set(story.at(-1)?.tokens.map((token) => token.id).filter((id) => !old.has(id)));
    draft.render(now.doc, { fresh: old.size ? fresh : new Set() });
  }
  const text = textOf(now.doc);
  showTerms(now.terms, (term) => text !== "" && !stands(term, text));
  showBans(now.bans.map((ban) => ban.text));
  const stale = hasDraft() && now.source !== now.synced;
  byId("source-note").textContent = stale ? "The source has changed since the draft." : "";
  byId("continue").textContent = stale && now.synced ? "Re-sync" : "Continue";
  byId("continue").classList.toggle("primary", hasDraft());
  byId("translate").classList.toggle("primary", !hasDraft());
  const still = busy || !whole.hidden;
  switchOff(byId("undo"), still || !session.canUndo);
  switchOff(byId("redo"), still || !session.canRedo);
  byId("draft").inert = busy;
  for (const id of ["translate", "step", "as-text", "take"]) switchOff(byId(id), busy);
  switchOff(byId("continue"), busy || (!hasDraft() && whole.hidden));
  if (!typing || now.source.length < LONG) showSplit();
  hide(byId("stop"), !busy, () => byId(hasDraft() ? "continue" : "translate"));
  byId("draft").setAttribute("aria-busy", String(busy));
  if (!busy && player.isNow) player.onShow(null);
}

/** Offer to translate sentences one by one, where there are several. */
function showSplit() {
  const still = turn.busy || !whole.hidden;
  const several = still ? 0 : sentences.many ? untranslated(session.sentences).length : apart().length;
  hide(byId("split"), several < (sentences.many ? 1 : 2), () => source);
  byId("split").textContent = `Translate ${plural(several, "sentence")} ${sentences.many ? "without a draft" : "one by one"}`;
}

session.onChange((what) => {
  if (!turn.busy || what === null) {
    const story = session.turns[session.now.turn]?.frames ?? [];
    if (player.frames !== story && !turn.busy) player.load(story);
    else if (what !== null && !player.isNow && !player.playing) player.seek(player.frames.length);
  }
  render();
  if (what) say(what[0].toUpperCase() + what.slice(1) + ".", { seen: false });
  sentences.show(goTo);
  if (typing) storeSoon();
  else store();
});

let safe = true;
let storing = null;

/** Keep the work when no key has been pressed for a moment; a tab that is left before keeps it then. */
function storeSoon() {
  clearTimeout(storing);
  storing = setTimeout(() => (showSplit(), store()), PAUSE);
}
addEventListener("pagehide", () => storing !== null && store());

/** Keep the work for a reload of the tab; the first time that it cannot be kept, say so. */
function store() {
  clearTimeout(storing);
  storing = null;
  const before = safe;
  const rest = JSON.stringify({ model: api.model, at: session.at, whole: whole.hidden ? null : whole.value, settings: settings() });
  safe = remember(`{"sentences":${sentences.keptJson},${rest.slice(1)}`);
  if (before && !safe) complain({ message: "The browser cannot keep so long a text: what you do from now on would not survive a reload.", hint: "Save it before you close or reload this tab." });
}
whole.addEventListener("input", storeSoon);

async function move(direction) {
  if (turn.busy || !whole.hidden) return;
  closePopover({ back: false });
  clearTimeout(following);
  if (!(await written())) return;
  const [at, count] = [session.at, session.sentences.length];
  const label = session[direction]();
  if (!label) return;
  const other = session.sentences.length !== count;
  const where = session.at !== at && !other ? ` in sentence ${session.at + 1}` : "";
  // What failed there is not to be tried again here.
  if (where || other) settle();
  say(`${direction === "undo" ? "Undone" : "Done again"}${where}: ${label}.`);
}

async function copy() {
  if (!(await written())) return;
  const text = sentences.text();
  try {
    await navigator.clipboard.writeText(text);
    say("Copied.");
  } catch {
    say("The browser did not allow copying: choose “Edit as text” and copy from there.");
  }
}

async function save({ currentTarget: button }) {
  if (!(await written())) return;
  const pick = (text, note, act) =>
    element("button", { type: "button", className: "pick", onclick: () => (closePopover(), act()) }, element("strong", {}, text), element("span", { className: "faint" }, note));
  const model = api.model?.name ?? "";
  openPopover(
    button,
    "Save",
    element(
      "div",
      { className: "picks" },
      pick("Trace", "JSON: every edit with its probability", () => download("levt-trace.json", "application/json", `${JSON.stringify(sessionJson(sentences, model), null, 1)}\n`)),
      pick("Session", "HTML: one page to share, without scripts", () => download("levt-session.html", "text/html", sessionHtml(sentences, model))),
      pick("Text", "Only the draft", () => download("levt-draft.txt", "text/plain", `${sentences.text()}\n`)),
    ),
  );
}

/** Look at an iteration from elsewhere; who moves the slider itself is told by it. */
function look(position) {
  if (!player.frames.length) return false;
  player.seek(position);
  if (document.activeElement !== player.scrubber) say(`${player.describe()}.`, { seen: false });
}

const help = () => {
  closePopover();
  if (!byId("help").open) byId("help").showModal();
};

const click = (id, act) => byId(id).addEventListener("click", (event) => isOff(byId(id)) || act(event));
click("translate", () => run("translate"));
click("continue", goOn);
click("step", () => run("step"));
click("stop", () => turn.stop());
click("split", oneByOne);
click("join", join);
click("undo", () => move("undo"));
click("redo", () => move("redo"));
click("as-text", toggleWhole);
click("copy", copy);
click("save-open", save);
click("help-open", help);
click("empty", () => draft.focus());
byId("help-keys").append(shortcutTable());

setUpNotices();
setUpShortcuts({
  translate: () => void run("translate"),
  goOn: () => void goOn(),
  step: () => void run("step"),
  stop: () => (turn.busy ? turn.stop() : false),
  undo: () => void move("undo"),
  redo: () => void move("redo"),
  toDraft: () => (player.seek(player.frames.length), draft.focus()),
  toSource: () => source.focus(),
  asText: () => void toggleWhole(),
  sentenceBefore: () => void goTo(session.at - 1),
  sentenceAfter: () => void goTo(session.at + 1),
  copy: () => void copy(),
  earlier: () => look(Math.max(player.position - 1, 0)),
  later: () => look(Math.min(player.position + 1, player.frames.length)),
  help,
});

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

async function meet() {
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

const remembered = recall(["sentences", "at"]);
if (remembered) {
  api.model = remembered.model ?? null;
  setApart(api.model?.by_pieces ?? false);
  try {
    sentences.reopen(remembered.sentences, remembered.at);
  } catch {
    // It is not ours, or of another version: then the page begins anew.
    session.begin([blank("")], 0);
  }
}
set(remembered?.settings ?? {});
render();
player.load([]);
if (typeof remembered?.whole === "string") {
  await toggleWhole();
  whole.value = remembered.whole;
  store();
}
meet();
