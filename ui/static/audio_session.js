/** What the page's sound is for, where the device asks: the ring switch of an iPhone mutes a page. */

/** @param {"playback" | "play-and-record"} use Replies alone, or a recording as well. */
export function useSoundFor(use) {
  if (navigator.audioSession) navigator.audioSession.type = use;
}
