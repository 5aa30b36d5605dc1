// Whether something is being pressed: what is under the pointer must not move away before it is let go.

let pressed = null;
let release = () => {};

/** Done when what is being pressed is let go, and what that does is done. */
export const letGo = () => pressed;

addEventListener(
  "mousedown",
  () => {
    release();
    pressed = new Promise((resolve) => (release = resolve));
  },
  true,
);
for (const end of ["mouseup", "dragend", "blur"]) {
  addEventListener(end, ({ target }) => (end !== "blur" || target === window) && setTimeout(release), true);
}
