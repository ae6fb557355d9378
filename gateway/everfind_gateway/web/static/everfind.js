// The page: what is asked, the hits, and the keyboard.

import { call, inWorkspace, keepToken, takeToken } from "/calls.js";
import { byReason, count, element, sentence, shown } from "/dom.js";
import { hitItem } from "/hits.js";
import { indexBody, indexSummary } from "/state.js";

const PAGE = 10;
const CONTEXT = 2;
const LISTS = ["languages", "kinds", "include", "exclude", "statuses"];
const WORDS = ["since", "before", "mode"];
const STATUSES = ["accepted", "draft", "proposed", "superseded", "archived", "deprecated", "rejected", "withdrawn", "obsolete"];
const by = (id) => document.getElementById(id);
const form = by("search");
const known = { languages: new Set(), kinds: new Set(), statuses: new Set(STATUSES) };
let workspaces = [];
let asked = null;
let cursor = "";
let running = null;

function values() {
  const data = new FormData(form);
  const given = { query: by("query").value.trim().toWellFormed() };
  for (const name of LISTS) {
    const list = data.get(name).split(",").map((one) => one.trim()).filter(Boolean);
    if (list.length) given[name] = list;
  }
  for (const name of WORDS) if (data.get(name)) given[name] = data.get(name);
  const folders = data.getAll("folders");
  if (folders.length) given.folders = folders;
  if (data.has("include_hidden")) given.include_hidden = true;
  if (data.get("workspace")) given.workspace = data.get("workspace");
  return given;
}

function fill(parameters) {
  by("query").value = parameters.get("query") ?? "";
  for (const name of [...LISTS, ...WORDS]) form.elements[name].value = parameters.get(name) ?? "";
  form.elements.include_hidden.checked = parameters.has("include_hidden");
  const folders = new Set(parameters.getAll("folders"));
  for (const box of by("folders").querySelectorAll("input")) box.checked = folders.has(box.value);
  countFilters();
}

function addressOf(given) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    if (name === "folders") value.forEach((folder) => parameters.append(name, folder));
    else parameters.set(name, Array.isArray(value) ? value.join(", ") : String(value));
  }
  return `?${parameters}`;
}

function countFilters() {
  const used = Object.keys(values()).filter((name) => name !== "query" && name !== "workspace").length;
  by("filter-count").textContent = used ? `(${used})` : "";
}

function report(error) {
  if (error.name === "AbortError") return;
  by("error").replaceChildren(error.message, element("span", {}, error.hint ?? ""));
  by("summary").replaceChildren();
  if (error.status) by("login").hidden = error.status !== 401; // any other answer is to somebody with the token
  if (error.status === 401) by("token").focus();
}

async function search({ next = false, remember = true } = {}) {
  const given = next ? asked : values();
  if (!given?.query) return;
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  asked = given;
  by("error").replaceChildren();
  by("more").hidden = true;
  if (!next) {
    by("hits").replaceChildren();
    if (remember) history.pushState(null, "", addressOf(given));
    document.title = `${given.query} – everfind`;
  }
  by("summary").replaceChildren("Searching …");
  try {
    const page = { ...given, limit: PAGE, context_lines: CONTEXT, max_tokens: 0, cursor: next ? cursor : "" };
    show(await call("gather", page, signal), next);
  } catch (error) {
    report(error);
    if (next && running?.signal === signal) by("more").hidden = false;
  }
}

/** As the page is before anything was asked. */
function forget() {
  running?.abort();
  running = null;
  for (const name of ["hits", "summary", "error"]) by(name).replaceChildren();
  by("more").hidden = true;
  document.title = "everfind";
}

function show({ result, pieces }, next) {
  const { answer, passages } = result;
  const before = by("hits").childElementCount;
  by("hits").append(
    ...answer.hits.map((hit, nth) => hitItem(hit, passages[nth], pieces[nth], before + nth, report)),
  );
  cursor = answer.next_cursor ?? "";
  by("more").hidden = !cursor;
  for (const hit of answer.hits) {
    known.languages.add(hit.language);
    known.kinds.add(hit.kind);
    known.statuses.add(hit.status);
  }
  offer();
  by("summary").replaceChildren(...summary(answer));
  if (next) places()[before]?.focus();
}

function summary(answer) {
  const { coverage, abstained, hidden, staleness, unmatched, warnings = [] } = answer;
  const shownHits = by("hits").childElementCount;
  let found = shownHits ? count(shownHits, "hit") : "No results";
  if (cursor) found += `, ${count(answer.left_out ?? 0, "more hit")}`;
  if (abstained) {
    found = `No relevant results: the best scores ${abstained.best_score.toFixed(2)}, and ${abstained.threshold.toFixed(2)} are needed`;
  }
  if (unmatched) found += `: ${shown(unmatched)}`;
  const left = byReason(coverage.skipped);
  const parts = [`${found}. Searched ${count(coverage.files, "file")}, ${count(coverage.chunks, "chunk")}${left ? `; left out: ${left}` : ""}. `];
  if (hidden) {
    const button = element("button", { type: "button" }, "Show them");
    button.addEventListener("click", () => {
      form.elements.include_hidden.checked = true;
      countFilters();
      search();
    });
    parts.push(`${count(hidden.count, "file")} hidden (${byReason(hidden.by_rule)}). `, button, " ");
  }
  if (coverage.unembedded) {
    const done = coverage.chunks - coverage.unembedded;
    const rest = `Only ${done.toLocaleString("en")} of ${count(coverage.chunks, "chunk")} have vectors yet; the rest is`;
    parts.push(`${done ? rest : "No chunk has a vector yet; all is"} found by its words alone. `);
  } else if (staleness) parts.push("Some files changed since they were indexed. ");
  for (const warning of warnings) parts.push(sentence(shown(warning)));
  return parts;
}

function offer() {
  for (const [name, set] of Object.entries(known)) {
    const options = [...set].filter(Boolean).sort().map((value) => element("option", { value }));
    by(`known-${name}`).replaceChildren(...options);
  }
}

async function showIndex() {
  const { result, workspaces: listed = [] } = await call("status", {});
  workspaces = listed;
  by("index-summary").textContent = indexSummary(result);
  by("index-body").replaceChildren(...indexBody(result));
  return result.folders;
}

function offerFolders(folders) {
  const boxes = folders.map(({ name }) =>
    element("label", {}, element("input", { type: "checkbox", name: "folders", value: name }), shown(name)),
  );
  by("folders").replaceChildren(by("folders").querySelector("legend"), ...boxes);
  by("folders").hidden = boxes.length < 2;
}

/** The choice of a workspace, where there is one; the one that is asked is always there. */
function offerWorkspaces(chosen) {
  const names = [...new Set(["", ...workspaces, chosen])];
  by("workspace").replaceChildren(...names.map((name) => element("option", { value: name }, name ? shown(name) : "own folders")));
  by("workspace").value = chosen;
  by("workspaces").hidden = names.length < 2;
}

/** Show what the address asks for. */
async function start() {
  takeToken();
  offer();
  const parameters = new URLSearchParams(location.search);
  const workspace = parameters.get("workspace") ?? "";
  inWorkspace(workspace);
  offerWorkspaces(workspace);
  fill(parameters);
  try {
    offerFolders(await showIndex());
    offerWorkspaces(workspace);
    by("login").hidden = true;
    by("error").replaceChildren();
  } catch (error) {
    forget();
    report(error);
    return;
  }
  fill(parameters);
  if (by("query").value) {
    search({ remember: false });
    return;
  }
  forget();
  by("query").focus();
}

const places = () => [...by("hits").querySelectorAll(".place")];

function step(way) {
  const all = places();
  const current = all.findIndex((place) => place.closest(".hit").contains(document.activeElement));
  const next = current < 0 ? (way > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, current + way));
  all[next]?.focus();
}

const KEYS = {
  "/": () => {
    by("query").focus();
    by("query").select();
  },
  j: () => step(1),
  k: () => step(-1),
  n: () => !by("more").hidden && search({ next: true }),
  f: () => {
    by("filters").open = !by("filters").open;
    if (by("filters").open) form.elements.languages.focus();
  },
  "?": () => by("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || by("help").open) return;
  const field = event.target.closest("input, select, textarea");
  if (field && event.key === "Escape") {
    event.preventDefault();
    field.blur();
    by("hits").focus();
  } else if (field?.id === "query" && event.key === "ArrowDown") {
    event.preventDefault();
    step(1);
  } else if ((!field || field.type === "checkbox") && KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
form.addEventListener("change", (event) => {
  countFilters();
  if (event.target.id !== "query" && by("query").value.trim()) search();
});
by("workspace").addEventListener("change", () => {
  const { query, workspace } = values(); // filters are of what the other one holds
  history.pushState(null, "", addressOf(workspace ? { query, workspace } : { query }));
  start();
});
by("clear").addEventListener("click", () => {
  fill(new URLSearchParams({ query: by("query").value }));
  search();
});
by("more").addEventListener("click", () => search({ next: true }));
by("help-button").addEventListener("click", () => by("help").showModal());
by("index").addEventListener("toggle", () => by("index").open && showIndex().catch(report));
by("login").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(by("token").value.trim());
  start();
});
window.addEventListener("popstate", () => {
  const parameters = new URLSearchParams(location.search);
  if ((parameters.get("workspace") ?? "") !== by("workspace").value) {
    start();
    return;
  }
  fill(parameters);
  if (by("query").value) search({ remember: false });
  else forget();
});

start();
