/** Small helpers to build elements. Words always go in as text, never as markup. */

/**
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function make(tag, className = "", text = "") {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Shows the element with these words, or hides it when there are none. */
export function say(element, text) {
  // Written only when it changes: a screen reader takes every writing for news.
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}

/** @returns {HTMLButtonElement} A button with a click action and a spoken label. */
export function button(text, label, onClick) {
  const element = make("button", "quiet-button", text);
  element.type = "button";
  element.setAttribute("aria-label", label);
  element.addEventListener("click", onClick);
  return element;
}

/** @returns {string} Seconds for people: "0.82 s". */
export function seconds(value) {
  return `${value.toFixed(value < 10 ? 2 : 1)} s`;
}

/** Hands a file to the browser's downloads. */
export function download(file, name) {
  const link = make("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser is still reading it
}
