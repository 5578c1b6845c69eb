/** What the voice lab remembers in this browser, from one visit to the next. */

const KEPT = "omni-live-lab";

/** @returns {any} What was stored under this key; undefined if nothing was. */
export function recall(key) {
  return all()[key];
}

/** Remembers a value that JSON can hold. */
export function store(key, value) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...all(), [key]: value }));
  } catch {
    // Blocked storage: it lives as long as the page.
  }
}

function all() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}
