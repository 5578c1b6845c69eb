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

/** @param {Float32Array[]} pieces Mono, full scale at ±1.
 *  @returns {Blob} A PCM16 WAV file. */
export function wavFile(pieces, sampleRate) {
  const pcm = new Int16Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces)
    for (const sample of piece) pcm[at++] = Math.round(Math.max(-1, Math.min(1, sample)) * 32767);
  const head = new DataView(new ArrayBuffer(WAV_HEADER_BYTES));
  const words = [[0, "RIFF"], [8, "WAVE"], [12, "fmt "], [36, "data"]];
  for (const [start, word] of words)
    for (let n = 0; n < 4; n += 1) head.setUint8(start + n, word.charCodeAt(n));
  head.setUint32(4, WAV_HEADER_BYTES - 8 + pcm.byteLength, true);
  head.setUint32(16, 16, true); // bytes of the format that follows
  head.setUint16(20, 1, true); // PCM
  head.setUint16(22, 1, true); // one channel
  head.setUint32(WAV_RATE_OFFSET, sampleRate, true);
  head.setUint32(28, 2 * sampleRate, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  head.setUint32(40, pcm.byteLength, true);
  return new Blob([head, pcm], { type: "audio/wav" });
}
