// The server: requests, answers, streams, and errors a person can read. Knows no page.

export class ApiError extends Error {
  constructor({ type, message, hint = null }, { status = 0, retryAfter = null } = {}) {
    super(message);
    Object.assign(this, { type, hint, status, retryAfter });
  }
}

const UNREACHABLE = {
  type: "unreachable",
  message: "The server does not answer.",
  hint: "Is `levt serve` still running? Your work is safe in this tab.",
};

/** So many texts go together: enough to be quick, few enough to be answered before the server loses patience. */
const TOGETHER = 16;

/** What is wrong with one text, and not with others that were sent together with it. */
const OF_A_TEXT = ["too_many_bytes", "too_many_tokens", "unusable_text"];

/** Milliseconds for an answer that needs no model: behind it other gestures wait. */
const PATIENCE = 20_000;

/** Server-sent events from chunks of text. */
export async function* parseEvents(chunks) {
  let buffer = "";
  for await (const chunk of chunks) {
    buffer = (buffer + chunk).replaceAll("\r\n", "\n");
    let end;
    while ((end = buffer.indexOf("\n\n")) !== -1) {
      const block = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      let name = "message";
      const data = [];
      for (const line of block.split("\n")) {
        if (line.startsWith("event:")) name = line.slice(6).trim();
        else if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
      }
      if (data.length) yield { name, data: JSON.parse(data.join("\n")) };
    }
  }
}

async function* chunksOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let got; !(got = await reader.read()).done; ) yield got.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function errorOf(response) {
  const answer = await response.json().catch(() => null);
  const problem = answer?.error ?? {
    type: "unknown",
    message: `The server answered with status ${response.status}.`,
  };
  return new ApiError(problem, {
    status: response.status,
    retryAfter: Number(response.headers.get("Retry-After")) || null,
  });
}

export class Api {
  /** Hears that the server has answered. */
  onAnswer = () => {};

  /** `askToken(refused)` is called when the server wants a bearer token, or another one; it gives one, or null. */
  constructor({ askToken, token = null }) {
    this.askToken = askToken;
    this.token = token;
    this.model = null;
    this.limits = null;
  }

  async #send(path, body, { signal, accept = "application/json", patience = null } = {}) {
    const headers = { Accept: accept };
    const { token } = this;
    if (body) headers["Content-Type"] = "application/json";
    if (token) headers.Authorization = `Bearer ${token}`;
    let response;
    try {
      response = await fetch(path, {
        method: body ? "POST" : "GET",
        headers,
        // Tokens are those of one model: another one would read something else in them.
        body: body ? JSON.stringify({ model: this.model?.name, ...body }) : undefined,
        // Whoever looks for a token has all the time there is: only the server's is measured.
        signal: patience ? AbortSignal.timeout(patience) : signal,
        credentials: "omit",
      });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(UNREACHABLE);
    }
    if (response.status === 401) {
      // Another request may have asked for one meanwhile.
      const other = this.token === token ? await this.askToken(token !== null) : this.token;
      if (other) {
        this.token = other;
        return this.#send(path, body, { signal, accept, patience });
      }
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  async #json(path, body, more) {
    const response = await this.#send(path, body, more);
    let answer;
    try {
      answer = await response.json();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError({ ...UNREACHABLE, message: "The answer of the server cannot be read." });
    }
    this.onAnswer();
    return answer;
  }

  models() {
    return this.#json("v1/models", undefined, { patience: PATIENCE });
  }

  tokenize(text, inside = false, model = this.model?.name) {
    return this.#json("v1/tokenize", { model, text, inside }, { patience: PATIENCE });
  }

  alternatives(body, signal) {
    return this.#json("v1/alternatives", body, { signal });
  }

  /** The pieces that the model writes for each text. */
  async write(body, signal) {
    return (await this.#json("v1/translate", body, { signal })).results.map(({ pieces }) => pieces);
  }

  /**
   * Many texts, each with what it must not have, some at a time; `onSome` hears results, with traces, as they come. One
   * that the server refuses keeps none of the others back: its result is the error.
   */
  async translateAll(texts, drop, options, { signal, onSome }) {
    const ask = async (from, to) => {
      const body = { texts: texts.slice(from, to), drop: drop.slice(from, to), options, trace: true };
      try {
        onSome((await this.#json("v1/translate", body, { signal })).results);
      } catch (error) {
        if (!OF_A_TEXT.includes(error.type)) throw error;
        if (to - from === 1) return onSome([error]);
        for (let i = from; i < to; i++) await ask(i, i + 1);
      }
    };
    const most = Math.min(this.limits?.texts ?? TOGETHER, TOGETHER);
    for (let i = 0; i < texts.length; i += most) await ask(i, Math.min(i + most, texts.length));
  }

  async step(body, signal) {
    return (await this.#json("v1/step", body, { signal })).result;
  }

  /** Translate or refine one text; `onEvent` hears drafts and iterations as they happen. Gives the result. */
  async stream(path, body, { signal, onEvent }) {
    const response = await this.#send(path, { ...body, trace: true, stream: true }, { signal, accept: "text/event-stream" });
    if (!(response.headers.get("Content-Type") ?? "").includes("event-stream")) {
      return (await response.json()).results[0];
    }
    let result = null;
    try {
      for await (const { name, data } of parseEvents(chunksOf(response))) {
        if (name === "error") throw new ApiError(data.error);
        if (name === "result") result = data.result;
        else if (name !== "done") onEvent(name, data);
      }
    } catch (error) {
      if (error instanceof ApiError || error.name === "AbortError") throw error;
      throw new ApiError(UNREACHABLE);
    }
    if (!result) throw new ApiError({ ...UNREACHABLE, message: "The server stopped in the middle of its answer." });
    return result;
  }
}
