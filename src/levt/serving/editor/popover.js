// One popover for the page: beside what it belongs to, or a sheet at the bottom of a small screen.
// Knows nothing of what is in it.

import { byId, element } from "./dom.js";
import { isLost } from "./focus.js";

const root = byId("popover");
let anchor = null;
let aborter = null;

const stops = () => [...root.querySelectorAll("button:not([disabled]), input")];

/** Open at an element with a title and parts; gives a signal that ends when it closes. */
export function openPopover(at, title, ...parts) {
  closePopover({ back: false });
  end();
  anchor = at;
  anchor.classList.add("open");
  aborter = new AbortController();
  root.replaceChildren(element("h2", { id: "popover-title" }, title), ...parts);
  root.showPopover();
  place();
  stops()[0]?.focus();
  return aborter.signal;
}

/** Put it below the anchor, or above where there is more room, within the window. */
export function place() {
  if (!anchor?.isConnected) return;
  if (matchMedia("(max-width: 36rem)").matches) {
    // The sheet covers the lower part of the screen: what it belongs to must be seen above it.
    if (anchor.getBoundingClientRect().bottom > root.getBoundingClientRect().top) anchor.scrollIntoView({ block: "start" });
    return;
  }
  const box = anchor.getBoundingClientRect();
  const room = { below: innerHeight - box.bottom - 14, above: box.top - 14 };
  root.style.setProperty("--room", `${innerHeight}px`);
  // With the room for what is still to come: it must not move away when that does.
  root.classList.add("above");
  const { offsetWidth: width, offsetHeight: height } = root;
  const below = height <= room.below || room.below >= room.above;
  root.classList.toggle("above", !below);
  const left = Math.max(8, Math.min(box.left, innerWidth - width - 8));
  const top = below ? box.bottom + 6 : Math.max(8, box.top - Math.min(height, room.above) - 6);
  root.style.setProperty("--left", `${left}px`);
  root.style.setProperty("--top", `${top}px`);
  root.style.setProperty("--room", `${Math.max(below ? room.below : room.above, 160)}px`);
}

export const isOpen = () => root.matches(":popover-open");

export const isAnchor = (one) => one === anchor && isOpen();

/** What it belongs to was drawn anew; it stays where it is, for it may be pressed right now. */
export function reanchor(to) {
  anchor.classList.remove("open");
  anchor = to;
  anchor.classList.add("open");
}

export function closePopover({ back = true } = {}) {
  if (!isOpen()) return;
  const was = anchor;
  root.hidePopover();
  if ((back || isLost(root)) && was?.isConnected) was.focus();
}

function end() {
  aborter?.abort();
  anchor?.classList.remove("open");
  root.replaceChildren();
}

root.addEventListener("toggle", () => {
  // The event comes late: by then it may be open again, for something else.
  if (isOpen()) return;
  if (isLost(root) && anchor?.isConnected) anchor.focus();
  end();
});

// Who goes elsewhere by a shortcut has done with it.
root.addEventListener("focusout", ({ relatedTarget }) => {
  if (!relatedTarget || root.contains(relatedTarget) || !isOpen()) return;
  closePopover({ back: false });
  relatedTarget.focus();
});

root.addEventListener("keydown", (event) => {
  const ends = stops();
  if (event.key === "Tab" && event.target === (event.shiftKey ? ends[0] : ends.at(-1))) {
    // Beyond its ends it would stay open over the page, with the focus somewhere behind it.
    closePopover();
    event.preventDefault();
    return;
  }
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step || event.target.tagName === "INPUT") return;
  const all = stops();
  const i = all.indexOf(document.activeElement);
  all[(i + step + all.length) % all.length]?.focus();
  event.preventDefault();
});

addEventListener("resize", place);
