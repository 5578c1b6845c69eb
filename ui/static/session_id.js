/**
 * The id of this tab's conversation: kept over a reload, never shared between tabs.
 *
 * A duplicated tab starts with a copy of its origin's sessionStorage. The lock, held for as long as
 * the tab lives, tells the two apart; where the browser offers none (plain http), the copy stays.
 */

const KEY = "omni-live-session";

/** @returns {string} 128 random bits, as 32 hexadecimal digits. */
export function freshId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function holdLock(id) {
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((answer, refuse) => {
    const held = navigator.locks.request(`${KEY}-${id}`, { ifAvailable: true }, (lock) => {
      answer(lock !== null);
      return lock && new Promise(() => {});
    });
    held.catch(refuse);
  });
}

async function claimStoredId() {
  let id = sessionStorage.getItem(KEY);
  while (!id || !(await holdLock(id))) id = freshId();
  sessionStorage.setItem(KEY, id);
  return id;
}

/** @returns {Promise<string>} 32 hexadecimal digits. */
export async function claimSessionId() {
  try {
    return await claimStoredId();
  } catch {
    // Blocked storage: the conversation lives as long as the page.
    return freshId();
  }
}
