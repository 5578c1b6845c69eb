/** How often one of two was liked better, kept in this browser. */

import { button, make } from "./dom.js";
import { recall, store } from "./lab_memory.js";

const HEADINGS = ["One", "Better", "Other", "Better", "No difference"];

export class Tally {
  constructor() {
    this.element = make("div", "tally");
    this.table = make("table");
    this.table.append(make("caption", "", "What you liked better, round by round"));
    const head = this.table.appendChild(make("thead")).appendChild(make("tr"));
    for (const words of HEADINGS) head.append(make("th", "", words));
    this.body = this.table.appendChild(make("tbody"));
    this.element.append(this.table, button("Clear the tally", "Clear the tally", () => this.#write([])));
    this.#write(recall("tally") ?? []);
  }

  /** Counts a round between two labels, of which one was better, or none. */
  count(first, second, better) {
    const [one, other] = [first, second].sort();
    const rounds = recall("tally") ?? [];
    let pair = rounds.find((known) => known.one === one && known.other === other);
    if (!pair) rounds.push((pair = { one, other, oneBetter: 0, otherBetter: 0, same: 0 }));
    pair[better === null ? "same" : better === one ? "oneBetter" : "otherBetter"] += 1;
    this.#write(rounds);
  }

  #write(rounds) {
    store("tally", rounds);
    this.element.hidden = rounds.length === 0;
    this.body.replaceChildren(
      ...rounds.map(({ one, oneBetter, other, otherBetter, same }) => {
        const row = make("tr");
        for (const value of [one, oneBetter, other, otherBetter, same]) row.append(make("td", "", String(value)));
        return row;
      }),
    );
  }
}
