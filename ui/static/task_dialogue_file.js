/** A dialogue as one file, its sounds included. */

import { NotSpoken } from "./speech_stream.js";
import { fetchClip, sendClip } from "./task_api.js";
import { checkedDialogue } from "./task_dialogue_check.js";

const FORMAT = "omni-live-dialogue-1";
const NO_DIALOGUE = "This is no dialogue that was saved here.";

/** @returns {Promise<Blob>} The file; sounds that the app keeps no longer are not in it. */
export async function packDialogue({ name, systemPrompt, turns }) {
  const packed = [];
  for (const { clip, answerClip, ...turn } of turns)
    packed.push({ ...turn, sound: await base64Of(clip), answerSound: await base64Of(answerClip) });
  const told = { format: FORMAT, name, systemPrompt, turns: packed };
  return new Blob([JSON.stringify(told, null, 1)], { type: "application/json" });
}

/** @returns {Promise<object>} The dialogue of a file, its sounds on the app's shelf again. */
export async function unpackDialogue(file) {
  const { name, systemPrompt, turns } = await read(file);
  const unpacked = [];
  for (const { sound, answerSound, text, answer, reasoning, cues } of turns) {
    const words = { text: text ?? "", answer: answer ?? "", reasoning: reasoning ?? "" };
    const clips = { clip: await keptAgain(sound), answerClip: await keptAgain(answerSound) };
    unpacked.push({ ...words, ...clips, cues });
  }
  return { name: name ?? undefined, systemPrompt: systemPrompt ?? "", turns: unpacked };
}

async function read(file) {
  const told = await file.text().then(JSON.parse).catch(() => null);
  const dialogue = told?.format === FORMAT ? checkedDialogue(told) : null;
  if (!dialogue) throw new NotSpoken(NO_DIALOGUE);
  return dialogue;
}

async function base64Of(clip) {
  if (!clip) return null;
  try {
    const bytes = new Uint8Array(await (await fetchClip(clip)).arrayBuffer());
    let text = "";
    for (const byte of bytes) text += String.fromCharCode(byte);
    return btoa(text);
  } catch (error) {
    if (error.code) return null;
    throw error;
  }
}

async function keptAgain(sound) {
  if (!sound) return null;
  let bytes;
  try {
    bytes = Uint8Array.from(atob(sound), (char) => char.charCodeAt(0));
  } catch {
    throw new NotSpoken(NO_DIALOGUE);
  }
  return (await sendClip(new File([bytes], "turn.wav", { type: "audio/wav" }))).id;
}
