/** Reads the two forms in which sound comes from the app: base64 PCM16, and its own WAV files. */

const WAV_HEADER_BYTES = 44;
const WAV_RATE_OFFSET = 24;

/** @returns {Int16Array} Mono PCM16. */
export function pcm16FromBase64(text) {
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return new Int16Array(bytes.buffer);
}

/** @param {ArrayBuffer} file A mono PCM16 WAV with the plain 44-byte header.
 *  @returns {{samples: Int16Array, sampleRate: number}} */
export function pcm16FromWav(file) {
  const sampleRate = new DataView(file).getUint32(WAV_RATE_OFFSET, true);
  return { samples: new Int16Array(file.slice(WAV_HEADER_BYTES)), sampleRate };
}
