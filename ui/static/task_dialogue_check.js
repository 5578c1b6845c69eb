/** What is read from outside, looked at before it is a dialogue: a file, or what the tab has stored. */

/** @returns {object | null} The dialogue, with none but readable captions; null where it is none. */
export function checkedDialogue(told) {
  const { name, systemPrompt, turns } = told ?? {};
  if (!areWords(name, systemPrompt) || !Array.isArray(turns) || !turns.every(isTurn)) return null;
  return { ...told, turns: turns.map((turn) => ({ ...turn, cues: (turn.cues ?? []).filter(isCue) })) };
}

function isTurn(told) {
  if (typeof told !== "object" || told === null || Array.isArray(told)) return false;
  const { cues, ...others } = told;
  return areWords(...Object.values(others)) && Array.isArray(cues ?? []);
}

const isCue = (told) =>
  Number.isFinite(told?.start_s) && Number.isFinite(told.end_s) && typeof told.text === "string";

const areWords = (...values) => values.every((value) => typeof (value ?? "") === "string");
