// Asks for the bearer token of the server, once at a time.

import { byId } from "./dom.js";

let asking = null;

/** The token that the person gives, or null; `refused` says that the one before it was wrong. */
export function tokenDialog(refused) {
  asking ??= new Promise((resolve) => {
    const dialog = byId("token-dialog");
    byId("token").value = "";
    byId("token-refused").hidden = !refused;
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
