// Calls to the server that sent this page. Nothing else is ever asked.

const KEY = "everfind-token";

let workspace = "";

/** Ask this workspace from now on; empty for the server's own. */
export function inWorkspace(name) {
  workspace = name;
}

export class CallError extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

/** Takes the token out of the address: what stands after its # is never sent, and need not stay in sight. */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    keepToken(token);
    history.replaceState(null, "", location.pathname + location.search);
  }
}

/** The answer of one tool. Throws CallError with a sentence, or AbortError. */
export async function call(name, given, signal) {
  let response;
  let answer;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${headerSafe(sessionStorage.getItem(KEY) ?? "")}` },
      body: JSON.stringify(workspace ? { ...given, workspace } : given),
      credentials: "omit",
      signal,
    });
    answer = await response.json().catch(notJson);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError("The server does not answer.", "Look whether `everfind web` still runs.", 0);
  }
  if (response.ok && answer) return answer;
  const { message, hint } = answer?.error ?? { message: `The server answered with status ${response.status}.`, hint: "" };
  throw new CallError(message, hint, response.status);
}

/** An answer that is no JSON is none; one that did not come whole is the caller's matter. */
function notJson(error) {
  if (error instanceof SyntaxError) return null;
  throw error;
}

/** A header holds printable ASCII alone; anything else cannot be a token. */
function headerSafe(text) {
  return /^[\x21-\x7e]*$/.test(text) ? text : "";
}
