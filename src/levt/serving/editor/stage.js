// What stands in the place of the draft while the model works and is looked at again: the player of its iterations,
// and its turn. Knows no gesture.

import { byId } from "./dom.js";
import { hide } from "./focus.js";
import { FrameView } from "./frame_view.js";
import { draft } from "./gestures.js";
import { ModelTurn } from "./model_turn.js";
import { say } from "./notices.js";
import { Player } from "./player.js";
import { closePopover } from "./popover.js";
import { options } from "./settings.js";
import { api, session } from "./work.js";

const frameView = new FrameView(byId("frame"));
const whole = byId("whole");

/** While the model is at work, nobody is in the draft. */
const heir = () => (byId("draft").inert ? byId("status") : draft.items[draft.at]?.button);

/** Take the person to what stands in the place of the draft now. */
export const toStage = () => ([byId("frame"), whole].find((one) => !turn.busy && !one.hidden) ?? heir())?.focus();

export const player = new Player({
  onShow(frame, phase) {
    if (frame) {
      frameView.show(frame, phase);
      byId("frame").hidden = false;
    }
    hide(byId("draft"), Boolean(frame) || !whole.hidden, () => byId("frame"));
    if (!frame) hide(byId("frame"), true, heir);
    byId("empty").hidden = Boolean(frame) || !whole.hidden || session.now.doc.tokens.length > 0;
  },
  onTell: (moment) => say(`${moment}.`, { seen: false }),
  heir,
});

export const turn = new ModelTurn({ api, session, player, options });

/** The iterations of the last turn of the model that is not undone. */
export const story = () => session.turns[session.now.turn]?.frames ?? [];

/** Look at an iteration from elsewhere; who moves the slider itself is told by it. */
export function look(position) {
  if (!player.frames.length || !whole.hidden) return false;
  closePopover();
  player.seek(position);
  if (document.activeElement !== player.scrubber) say(`${player.describe()}.`, { seen: false });
}
