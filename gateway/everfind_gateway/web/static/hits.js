// One hit: its place, what there is to know of it, and its lines with the question's words marked.

import { call } from "/calls.js";
import { element, shown } from "/dom.js";

const SHORT = 14;
const AROUND = 25;
const WHY = {
  semantic: "found by meaning",
  lexical: "found by words",
  both: "found by meaning and words",
  exact: "exact match",
  graph: "related to a hit",
};

/** The list item of a hit. `report` shows an error. */
export function hitItem(hit, passage, pieces, number, report) {
  const lines = passageLines(hit, passage, pieces);
  const code = element("pre", { className: hit.kind ? "" : "prose", tabIndex: 0, role: "region", "aria-label": `Lines of ${hit.path}` });
  code.id = `code-${number}`;
  const place = element(
    "button",
    { type: "button", className: "place", "aria-expanded": "false", "aria-controls": code.id, title: shown(hit.absolute_path) },
    shown(`${hit.folder}/${hit.path}`),
    element("span", { className: "lines" }, ` ${hit.start_line}–${hit.end_line}`),
  );
  code.replaceChildren(...shortened(lines));
  let wide = null;
  place.addEventListener("click", async () => {
    const open = place.getAttribute("aria-expanded") === "true";
    place.setAttribute("aria-expanded", String(!open));
    if (open) return code.replaceChildren(...shortened(lines));
    wide ??= await surroundings(hit, passage, lines, report);
    if (place.getAttribute("aria-expanded") === "true") code.replaceChildren(...(wide ?? lines));
  });
  return element("li", { className: "hit" }, element("article", {}, element("h2", {}, place), facts(hit, passage), code));
}

function facts(hit, passage) {
  const row = element("p", { className: "facts" });
  const title = hit.symbol || hit.heading;
  if (title) row.append(element("span", { className: "title" }, shown(title)));
  row.append(element("span", { className: "badge", title: "why it is here" }, why(hit)));
  const life = lifecycle(hit);
  if (life) row.append(element("span", { className: `badge status${hit.status === "accepted" ? " accepted" : ""}` }, shown(life)));
  const rest = [hit.kind, hit.language, hit.page ? `page ${hit.page}` : "", `score ${hit.score.toFixed(3)}`];
  if (passage.extracted_from) rest.push(`text of ${passage.extracted_from}`);
  if (passage.changed) rest.push("changed since it was indexed");
  row.append(element("span", {}, shown(rest.filter(Boolean).join(" · "))));
  return row;
}

function why(hit) {
  const { label, semantic } = hit.provenance;
  if (label === "graph" && hit.relation) return hit.relation;
  const cosine = semantic && label !== "exact" ? ` (${semantic.cosine.toFixed(2)})` : "";
  return (WHY[label] ?? label) + cosine;
}

function lifecycle(hit) {
  if (hit.relation === "successor" && hit.relation_path) return `in place of ${hit.relation_path}`;
  const word = hit.successor ? `${hit.status || "replaced"} → ${hit.successor}` : hit.status;
  return [word, hit.date].filter(Boolean).join("; ");
}

/** Lines as elements; those of the hit itself differ from those around it. */
function passageLines(hit, passage, pieces) {
  const lines = [[]];
  pieces.forEach((piece, index) => {
    piece.split("\n").forEach((text, nth) => {
      if (nth) lines.push([]);
      if (text) lines.at(-1).push(index % 2 ? element("mark", {}, text) : text);
    });
  });
  if (lines.length > 1 && !lines.at(-1).length) lines.pop();
  return lines.map((parts, nth) => line(passage.start_line + nth, parts, hit));
}

function line(n, parts, hit) {
  const inside = n >= hit.start_line && n <= hit.end_line;
  return element("span", { className: inside ? "line" : "line around", "data-n": String(n) }, ...parts, "\n");
}

/** The lines in which most is marked, and how many are left out. */
function shortened(lines) {
  if (lines.length <= SHORT) return lines;
  const marks = lines.map((one) => one.querySelectorAll("mark").length);
  let best = 0;
  let most = -1;
  for (let start = 0; start + SHORT <= lines.length; start += 1) {
    const found = marks.slice(start, start + SHORT).reduce((sum, value) => sum + value, 0);
    if (found > most) [best, most] = [start, found];
  }
  const kept = lines.slice(best, best + SHORT);
  const above = best;
  const below = lines.length - best - SHORT;
  const left = (many, where) => (many ? [element("span", { className: "left-out" }, `${many} more ${where}`)] : []);
  return [...left(above, "above"), ...kept, ...left(below, "below")];
}

/** The passage with more of its file around it; null if the file is not the indexed one any more. */
async function surroundings(hit, passage, lines, report) {
  if (passage.changed) return null;
  const first = Math.max(1, passage.start_line - AROUND);
  try {
    const { result } = await call("cat_file", {
      path: `${hit.folder}/${hit.path}`,
      start_line: first,
      end_line: passage.end_line + AROUND,
    });
    const read = result.text.replace(/\n$/, "").split("\n").map((text, nth) => line(result.start_line + nth, [text], hit));
    const before = passage.start_line - result.start_line;
    return [...read.slice(0, before), ...lines, ...read.slice(before + lines.length)];
  } catch (error) {
    report(error);
    return null;
  }
}
