/** What the check of a clip found: the clip drawn with the part that is kept, and each finding. */

import { button, make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 100;

/** Per severity: its sign, and how it is read aloud. */
const SIGNS = {
  stop: ["✕", "Must be mended"],
  warn: ["!", "Better mended"],
  note: ["i", "Good to know"],
  fine: ["✓", "Fine"],
};

const FIXES = {
  trim: "Keep only the marked part",
  use_heard_text: "Use the words that were heard",
  x_vector_only: "Copy the sound of the voice only",
  record_again: "Record again",
};

/**
 * Shows a report in place of what the element shows.
 * @param {HTMLElement} element
 * @param {object} report As the app tells it.
 * @param {[number, number]} kept Seconds that are kept.
 * @param {(fix: string) => void} mend
 */
export function showReport(element, report, kept, mend) {
  const list = make("ul", "findings");
  for (const finding of report.findings) list.append(findingOf(finding, mend));
  element.replaceChildren(outlineOf(report, kept), list);
}

function findingOf({ severity, text, fixes }, mend) {
  const item = make("li", "finding");
  item.dataset.severity = severity;
  const [sign, aloud] = SIGNS[severity];
  const mark = item.appendChild(make("span", "finding-sign", sign));
  mark.setAttribute("role", "img");
  mark.setAttribute("aria-label", aloud);
  const words = item.appendChild(make("div"));
  words.append(make("p", "", text));
  for (const fix of fixes) words.append(button(FIXES[fix], FIXES[fix], () => mend(fix)));
  return item;
}

function outlineOf({ outline, duration_s: duration }, [start, end]) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "outline");
  picture.setAttribute("viewBox", `0 0 ${outline.length} ${HEIGHT}`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("role", "img");
  picture.setAttribute(
    "aria-label",
    `Of ${duration.toFixed(1)} seconds, those from ${start.toFixed(1)} to ${end.toFixed(1)} are kept.`,
  );
  const scale = outline.length / duration;
  picture.append(box("kept", start * scale, 0, (end - start) * scale, HEIGHT));
  const loudest = Math.max(...outline, 1e-3);
  outline.forEach((peak, at) => {
    const height = Math.max(1, (peak / loudest) * HEIGHT);
    picture.append(box("peak", at, (HEIGHT - height) / 2, 0.8, height));
  });
  return picture;
}

function box(name, x, y, width, height) {
  const rect = document.createElementNS(SVG, "rect");
  rect.setAttribute("class", name);
  for (const [key, value] of Object.entries({ x, y, width, height })) rect.setAttribute(key, value);
  return rect;
}
