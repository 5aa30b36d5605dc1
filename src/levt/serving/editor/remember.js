// Work survives a reload of the tab, and is gone when the tab is closed. Knows what is kept, not what it means.

const KEY = "levt-editor-2";
const TOKEN = "levt-token";

/** Keep some JSON; gives whether it could be: storage may be full or forbidden. */
export function remember(json) {
  try {
    sessionStorage.setItem(KEY, json);
    return true;
  } catch {
    return false;
  }
}

/** What was remembered, if it can be read and has these keys. */
export function recall(keys) {
  try {
    const value = JSON.parse(sessionStorage.getItem(KEY));
    return value && keys.every((key) => key in value) ? value : null;
  } catch {
    return null;
  }
}

export const recallToken = () => {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
};

export const rememberToken = (token) => {
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // It may be forbidden: then a reload asks anew.
  }
};
