/** A button that asks once more, in its own words, before it does what cannot be undone. */

import { button } from "./dom.js";

/**
 * @param {string} text
 * @param {string} label What is read out.
 * @param {() => void} act
 */
export function sureButton(text, label, act) {
  const element = button(text, label, () => {
    if (element.dataset.sure) return act();
    element.dataset.sure = "yes";
    tell(`${text} for good?`, `${label} for good?`);
  });
  const tell = (words, spoken) => {
    element.textContent = words;
    element.setAttribute("aria-label", spoken);
  };
  element.addEventListener("blur", () => {
    delete element.dataset.sure;
    tell(text, label);
  });
  return element;
}
