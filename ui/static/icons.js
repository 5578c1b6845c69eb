/** Line drawings for the call panel, on a grid of 24. */

const SVG = "http://www.w3.org/2000/svg";

const MICROPHONE = "M12 3a3 3 0 0 0-3 3v6a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3Z M5 11a7 7 0 0 0 14 0 M12 18v3";
const PHONE =
  "M6 3h3l2 5-2.5 1.5a11 11 0 0 0 6 6L16 13l5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3Z";

const PATHS = {
  call: PHONE,
  microphone: MICROPHONE,
  muted: `${MICROPHONE} M4 3l16 18`,
  person: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Z M3 20a6 6 0 0 1 12 0 M17 6a5 5 0 0 1 0 6 M20 4a9 9 0 0 1 0 10",
  dots: "M5 12h.01 M12 12h.01 M19 12h.01",
  speaker: "M4 9v6h4l5 4V5L8 9H4Z M16 9a4 4 0 0 1 0 6 M18.5 6.5a8 8 0 0 1 0 11",
  closed: "M4 12h16",
  link: "M4 12a8 8 0 0 1 14-5l2 2 M20 4v5h-5 M20 12a8 8 0 0 1-14 5l-2-2 M4 20v-5h5",
  camera: "M3 7h11v10H3Z M14 11l7-4v10l-7-4",
  turn: "M4 9h13l-3-3 M20 15H7l3 3",
  screen: "M3 5h18v11H3Z M9 20h6 M12 16v4",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12Z M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6Z",
  hold: "M8 12V6a2 2 0 0 1 4 0v5 M12 11a2 2 0 0 1 4 0v1 M16 12a2 2 0 0 1 4 0v3a6 6 0 0 1-6 6h-2a6 6 0 0 1-5-3l-3-5a1.7 1.7 0 0 1 3-1.5L8 14",
};

/** @param {string} name One of the drawings above. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = svg.appendChild(document.createElementNS(SVG, "path"));
  path.setAttribute("d", PATHS[name]);
  return svg;
}
