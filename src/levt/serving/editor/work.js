// What all parts of the page work on: the session, its list of sentences, and the server. Knows no button.

import { Api } from "./api.js";
import { recallToken, rememberToken } from "./remember.js";
import { Sentences } from "./sentences.js";
import { Session } from "./state.js";
import { tokenDialog } from "./token_dialog.js";

export const session = new Session();
export const sentences = new Sentences(session);
export const api = new Api({
  token: recallToken(),
  askToken: async (refused) => {
    const token = await tokenDialog(refused);
    if (token) rememberToken(token);
    return token;
  },
});

/** Whether there is something that the model could go on with. */
export const hasDraft = ({ doc } = session.now) => doc.tokens.length > 0 || doc.counts.some((count) => count !== null);

export const quoted = (text) => `“${text}”`;
