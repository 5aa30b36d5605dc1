// Asks for the bearer token of the server, once at a time.

import { byId } from "./dom.js";

let asking = null;

/** The token that the person gives, or null. */
export function tokenDialog() {
  asking ??= new Promise((resolve) => {
    const dialog = byId("token-dialog");
    byId("token").value = "";
    dialog.returnValue = "cancel";
    dialog.addEventListener(
      "close",
      () => {
        asking = null;
        resolve(dialog.returnValue === "ok" ? byId("token").value.trim() || null : null);
      },
      { once: true },
    );
    dialog.showModal();
  });
  return asking;
}
