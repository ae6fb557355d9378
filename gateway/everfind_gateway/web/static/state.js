// What the index holds and how it is doing.

import { byReason, count, element, number, shown } from "/dom.js";

export function indexSummary(status) {
  const wrong = status.findings.filter((finding) => finding.severity !== "ok").length;
  const parts = [count(status.coverage.files, "file"), count(status.coverage.chunks, "chunk")];
  if (status.coverage.pending) parts.push(`${number(status.coverage.pending)} pending`);
  if (wrong) parts.push(count(wrong, "finding"));
  return parts.join(", ");
}

export function indexBody(status) {
  const findings = status.findings.filter((finding) => finding.severity !== "ok").map(findingItem);
  const facts = [
    ["Made", status.indexed_at ? new Date(status.indexed_at * 1000).toLocaleString() : "not yet"],
    ["Generation", number(status.generation)],
    ["Model", status.model ? status.model.id : "none yet"],
    ["Left out", byReason(status.coverage.skipped) || "nothing"],
    ["Masked", count(status.redactions, "secret")],
    ["Being written by", status.writer ?? ""],
    ["Leaves the machine", status.outgoing.join(", ") || "nothing"],
  ].filter(([, value]) => value);
  return [
    ...findings,
    table("What is searched", ["Folder", "Files", "Chunks", "Pending", "State", "Left out"], status.folders.map(folderRow)),
    table("The index", ["", ""], facts.map(([name, value]) => [name, shown(value)])),
  ];
}

function findingItem(finding) {
  const text = [element("b", {}, `${finding.severity}: `), shown(finding.message)];
  if (finding.hint) text.push(` ${shown(finding.hint)}`);
  return element("p", { className: `finding ${finding.severity}` }, ...text);
}

function folderRow(folder) {
  const state = [folder.usable ? "" : "not readable", folder.added ? "" : "removed", folder.watched ? "followed" : ""];
  const { files, chunks, pending, skipped } = folder.coverage;
  return [
    shown(folder.name), number(files), number(chunks), number(pending), state.filter(Boolean).join(", "), byReason(skipped),
  ];
}

function table(caption, heads, rows) {
  const headed = heads.some(Boolean);
  const made = element("table", {}, element("caption", {}, caption));
  if (headed) made.append(element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))));
  const cells = ([first, ...rest]) => [element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))];
  made.append(element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells(row)))));
  return element("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption }, made);
}
