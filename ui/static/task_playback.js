/** The sound of the tasks in the page's player: one at a time, from any moment on. */

export class TaskPlayback {
  #player;
  #count = 0;
  #now = null;

  /** @param {import("./player.js").Player} player
   *  @param {() => void} changed It has fallen silent, or begun. */
  constructor(player, changed) {
    this.#player = player;
    this.changed = changed;
    player.addEventListener("progress", ({ detail }) => this.#follow(detail));
    player.addEventListener("ended", ({ detail }) => this.#end(detail.replyId));
  }

  /** Whether anything sounds. */
  get sounding() {
    return this.#now !== null;
  }

  /**
   * Plays what there is of a sound, and what `push` adds to it, in place of all else.
   * @param {import("./sound.js").Sound} sound
   * @param {number} fromS
   * @param {(seconds: number | null) => void} follow Gets the moment that is heard; null at the end.
   */
  play(sound, fromS, follow) {
    this.#now?.follow(null);
    this.#player.flush();
    const id = `task-${(this.#count += 1)}`;
    this.#now = { id, sound, fromS, follow };
    if (sound.rate) sound.play(this.#player, id, fromS);
    this.changed();
  }

  /** More of this sound is there. */
  push(sound, piece) {
    if (this.#now?.sound !== sound) return;
    this.#player.begin(this.#now.id, sound.rate);
    this.#player.push(this.#now.id, piece);
  }

  /** All of this sound is there. */
  end(sound) {
    if (this.#now?.sound !== sound) return;
    if (sound.rate) this.#player.end(this.#now.id);
    else this.#end(this.#now.id);
  }

  /** Falls silent; where a sound is given, only if that is heard. */
  stop(sound = this.#now?.sound) {
    if (!this.#now || this.#now.sound !== sound) return;
    const { id } = this.#now;
    this.#player.drop(id);
    this.#end(id);
  }

  #follow({ replyId, playedSeconds }) {
    if (this.#now?.id === replyId) this.#now.follow(this.#now.fromS + playedSeconds);
  }

  #end(replyId) {
    if (this.#now?.id !== replyId) return;
    const { follow } = this.#now;
    this.#now = null;
    follow(null);
    this.changed();
  }
}
