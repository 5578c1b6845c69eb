/** The forms in which sound travels: base64 PCM16 both ways, and the app's own WAV files. */

const WAV_HEADER_BYTES = 44;
const WAV_RATE_OFFSET = 24;

/** @returns {Int16Array} Mono PCM16. */
export function pcm16FromBase64(text) {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  return new Int16Array(bytes.buffer);
}

/** @param {ArrayBuffer} file A mono PCM16 WAV with the plain 44-byte header.
 *  @returns {{samples: Int16Array, sampleRate: number}} */
export function pcm16FromWav(file) {
  const sampleRate = new DataView(file).getUint32(WAV_RATE_OFFSET, true);
  return { samples: new Int16Array(file.slice(WAV_HEADER_BYTES)), sampleRate };
}

/** @param {Float32Array} samples Mono, full scale at ±1.
 *  @returns {string} Base64 PCM16. */
export function pcm16ToBase64(samples) {
  const pcm = Int16Array.from(samples, (s) => Math.round(Math.max(-1, Math.min(1, s)) * 32767));
  let text = "";
  for (const byte of new Uint8Array(pcm.buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}
