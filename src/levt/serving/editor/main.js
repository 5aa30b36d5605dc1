// The page: puts the parts together. Each gesture becomes one change of the session; each change, one render.

import { run, setUpAsking } from "./asking.js";
import { byId, isOff } from "./dom.js";
import { isLost } from "./focus.js";
import { draft } from "./gestures.js";
import { resume, setUpKeeping, store, storeSoon } from "./keeping.js";
import { meet } from "./meeting.js";
import { goBackTo, goTo, join, move } from "./moves.js";
import { say, setUpNotices } from "./notices.js";
import { oneByOne } from "./one_by_one.js";
import { render, showSplit } from "./page.js";
import { setApart } from "./pieces.js";
import { closePopover, isOpen } from "./popover.js";
import { recall } from "./remember.js";
import { set, setUpSettings } from "./settings.js";
import { setUpShortcuts, shortcutTable } from "./shortcuts.js";
import { setUpSource } from "./source_field.js";
import { look, player, story, toStage, turn } from "./stage.js";
import { blank } from "./state.js";
import { copy, save } from "./take_away.js";
import { onToggle, reopen, toggleWhole, whole } from "./whole_text.js";
import { api, sentences, session } from "./work.js";

session.onChange((what, { typed = false } = {}) => {
  if (!turn.busy || what === null) {
    const frames = story();
    if (player.frames !== frames && !turn.busy) player.load(frames);
    else if (what !== null && !player.isNow && !player.playing) player.seek(player.frames.length);
  }
  render({ typed });
  if (what) say(what[0].toUpperCase() + what.slice(1) + ".", { seen: false });
  sentences.show((i) => goTo(() => i));
  if (typed) storeSoon();
  else store();
});
player.onTake = goBackTo;
turn.onBusy = () => render();
onToggle(() => (render(), store()));
whole.addEventListener("input", storeSoon);
setUpAsking(meet);
// A server that answers again is met, whatever it was asked.
api.onAnswer = () => api.limits || meet();
setUpSource();
setUpSettings(() => store());
setUpKeeping(showSplit);

const goOn = () => run();
const help = () => {
  closePopover();
  if (!byId("help").open) byId("help").showModal();
};
for (const dialog of document.querySelectorAll("dialog")) {
  // What had the focus may have been drawn anew behind it.
  dialog.addEventListener("close", () => isLost(dialog) && toStage());
}

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
  stop: () => (turn.busy && !isOpen() ? turn.stop() : false),
  undo: () => void move("undo"),
  redo: () => void move("redo"),
  toDraft: () => (player.seek(player.frames.length), draft.focus()),
  toSource: () => byId("source").focus(),
  asText: () => void toggleWhole(),
  sentenceBefore: () => void goTo(() => session.at - 1),
  sentenceAfter: () => void goTo(() => session.at + 1),
  copy: () => void copy(),
  earlier: () => look(Math.max(player.position - 1, 0)),
  later: () => look(Math.min(player.position + 1, player.frames.length)),
  help,
});

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
try {
  resume(remembered ?? {});
} catch {
  // As above.
  resume({});
}
if (typeof remembered?.whole === "string") reopen(remembered.whole);
// All of it, should the page be opened once more before the server answers.
if (remembered) store();
meet();
