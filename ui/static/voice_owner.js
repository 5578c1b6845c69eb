/**
 * Whose voices these are: a secret that this browser keeps. Whoever has it has the voices, so it
 * goes to the app alone, which stores only its hash.
 */

import { freshId } from "./session_id.js";

const KEY = "omni-live-owner";

let ownForThisPage = "";

function secret() {
  try {
    const kept = localStorage.getItem(KEY) ?? freshId();
    localStorage.setItem(KEY, kept);
    return kept;
  } catch {
    // Blocked storage: the voices are found again only as long as the page is open.
    return (ownForThisPage ||= freshId());
  }
}

/** @returns {Record<string, string>} What a request about voices has to carry. */
export const ownerHeaders = () => ({ "X-Omni-Owner": secret() });
