/** A sound of a task, which the page may have yet to fetch from the app's shelf. */

import { Sound } from "./sound.js";
import { fetchClip } from "./task_api.js";
import { pcm16FromWav } from "./wav.js";

export class TaskSound extends Sound {
  /** @param {string | null} clip Its id on the shelf, where it is there. */
  constructor(clip = null) {
    super();
    this.clip = clip;
  }

  /** Whether there is anything to be heard. */
  get there() {
    return this.rate > 0 || this.clip !== null;
  }

  /** @returns {Promise<Blob>} A WAV file; the app's own says who spoke. Throws `NotSpoken`. */
  async wav() {
    if (!this.clip) return this.file;
    try {
      return await fetchClip(this.clip);
    } catch (error) {
      if (error.code) this.clip = null; // it is no longer kept
      if (this.file) return this.file;
      throw error;
    }
  }

  /** Fetches what the page does not have. Throws `NotSpoken`. */
  async load() {
    if (this.rate) return;
    const file = await this.wav();
    const { samples, sampleRate } = pcm16FromWav(await file.arrayBuffer());
    Object.assign(this, { file, rate: sampleRate, pieces: [samples] });
  }
}
