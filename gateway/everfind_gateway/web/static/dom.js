// Elements with text in them. Text is never read as HTML.

/** An element: properties such as `className`, attributes such as `aria-label`, and children (text or elements). */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== ""));
  return made;
}

export const number = (value) => value.toLocaleString("en");

/** `1 file`, `1,203 files`. */
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** `12 ignored, 3 binary`, the most first. */
export const byReason = (counts) =>
  Object.entries(counts)
    .filter(([, value]) => value)
    .sort(([, one], [, other]) => other - one)
    .map(([reason, value]) => `${number(value)} ${reason.replaceAll("_", " ")}`)
    .join(", ");

/** A path with what would act on a reader, or reorder the line, made visible. */
export const shown = (path) =>
  path.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (mark) => encodeURIComponent(mark));

/** A sentence of the server as it stands beside others: `file.md is old` → `File.md is old. `. */
export const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."} `;
