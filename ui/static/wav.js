/** The forms in which sound travels: base64 PCM16 both ways, and the app's own WAV files. */

const WAV_HEADER_BYTES = 44;
const WAV_RATE_OFFSET = 24;
const WAV_CHUNKS_OFFSET = 12;
const WAV_DATA = 0x64617461; // "data"

/** @returns {Int16Array} Mono PCM16. */
export function pcm16FromBase64(text) {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let at = 0; at < chars.length; at += 1) bytes[at] = chars.charCodeAt(at);
  return new Int16Array(bytes.buffer);
}

/** @param {ArrayBuffer} file A mono PCM16 WAV whose format comes first.
 *  @returns {{samples: Int16Array, sampleRate: number}} */
export function pcm16FromWav(file) {
  const view = new DataView(file);
  let at = WAV_CHUNKS_OFFSET;
  let bytes = view.getUint32(at + 4, true);
  while (view.getUint32(at) !== WAV_DATA) {
    at += 8 + bytes + (bytes % 2);
    bytes = view.getUint32(at + 4, true);
  }
  const sampleRate = view.getUint32(WAV_RATE_OFFSET, true);
  return { samples: new Int16Array(file.slice(at + 8, at + 8 + bytes - (bytes % 2))), sampleRate };
}

/** @param {Float32Array} samples Mono, full scale at ±1.
 *  @returns {string} Base64 PCM16. */
export function pcm16ToBase64(samples) {
  const pcm = Int16Array.from(samples, (s) => Math.round(Math.max(-1, Math.min(1, s)) * 32767));
  let text = "";
  for (const byte of new Uint8Array(pcm.buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

/** @param {Float32Array[]} pieces Mono, full scale at ±1.
 *  @returns {Blob} A PCM16 WAV file. */
export const wavFile = (pieces, sampleRate) =>
  wavFileOfPcm16(
    pieces.map((piece) => Int16Array.from(piece, (s) => Math.round(Math.max(-1, Math.min(1, s)) * 32767))),
    sampleRate,
  );

/** @param {Int16Array[]} pieces Mono.
 *  @returns {Blob} A WAV file. */
export function wavFileOfPcm16(pieces, sampleRate) {
  const soundBytes = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const head = new DataView(new ArrayBuffer(WAV_HEADER_BYTES));
  const words = [[0, "RIFF"], [8, "WAVE"], [12, "fmt "], [36, "data"]];
  for (const [start, word] of words)
    for (let n = 0; n < 4; n += 1) head.setUint8(start + n, word.charCodeAt(n));
  head.setUint32(4, WAV_HEADER_BYTES - 8 + soundBytes, true);
  head.setUint32(16, 16, true); // bytes of the format that follows
  head.setUint16(20, 1, true); // PCM
  head.setUint16(22, 1, true); // one channel
  head.setUint32(WAV_RATE_OFFSET, sampleRate, true);
  head.setUint32(28, 2 * sampleRate, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  head.setUint32(40, soundBytes, true);
  return new Blob([head, ...pieces], { type: "audio/wav" });
}
