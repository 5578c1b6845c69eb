/** What the page has to say to the person: at most one notice on each topic. */
export class Notices {
  #texts = new Map();
  #show = null;

  /** Shows the notices, now and from now on, with this. */
  mount(show) {
    this.#show = show;
    this.#update();
  }

  /** Puts words on a topic in place of the last; no words take them away. */
  tell(topic, text) {
    if ((this.#texts.get(topic) ?? "") === text) return;
    this.#texts.set(topic, text);
    this.#update();
  }

  /** Takes away what was said on these topics. */
  clear(...topics) {
    for (const topic of topics) this.tell(topic, "");
  }

  #update() {
    this.#show?.([...this.#texts.values()].filter(Boolean).join(" "));
  }
}
