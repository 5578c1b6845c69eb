/**
 * Whose voices these are: a secret that this browser keeps. Whoever has it has the voices, so it
 * goes to the app alone, which stores only its hash.
 */

const KEY = "omni-live-owner";

let ownForThisPage = "";

function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function secret() {
  try {
    const kept = localStorage.getItem(KEY) ?? fresh();
    localStorage.setItem(KEY, kept);
    return kept;
  } catch {
    // Blocked storage: the voices are found again only as long as the page is open.
    return (ownForThisPage ||= fresh());
  }
}

/** @returns {Record<string, string>} What a request about voices has to carry. */
export const ownerHeaders = () => ({ "X-Omni-Owner": secret() });
