/** How a batch stands, in words. */

const MINUTE_S = 60;
const HOUR_S = 3600;

/** @returns {string} "12 s", "3 min", "1 h 5 min". */
export function duration(value) {
  if (value < MINUTE_S) return `${Math.ceil(value)} s`;
  const minutes = Math.round(value / MINUTE_S);
  if (value < HOUR_S) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const many = (count, one, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

/** @returns {string} What a person wants to know at a glance. */
export function standing(batch) {
  const facts = batch.state === "planned" ? plan(batch) : progress(batch);
  return facts.filter(Boolean).join(" · ");
}

function plan({ items, left_out: leftOut }) {
  return [many(items, "item"), leftOut ? `${leftOut} of them cannot be spoken` : "all can be spoken"];
}

function progress(batch) {
  const { items, done, failed, left_out: leftOut, state } = batch;
  return [
    { running: "", stopped: "Stopped", finished: "Finished" }[state],
    `${done} of ${many(items - leftOut, "item")} spoken`,
    failed ? `${failed} failed` : "",
    leftOut ? `${leftOut} left out` : "",
    `${batch.made_s.toFixed(1)} s of sound`,
    state === "running" && batch.left_s !== null ? `about ${duration(batch.left_s)} left` : "",
    `${batch.voice}, ${batch.response_format.toUpperCase()}`,
  ];
}

/** @returns {string} What is being done just now, or why nothing is. */
export function doing({ state, current, stopped_by: stoppedBy }) {
  if (state !== "running") return stoppedBy;
  if (!current) return "Waiting for another batch…";
  const { number, name, made_s: madeS } = current;
  const item = `item ${number}, “${name}”`;
  return madeS ? `Speaking ${item}: ${madeS.toFixed(1)} s` : `Waiting for the engine: ${item}`;
}

/** @returns {string} One item, for the list of all. */
export function itemLine({ text, name = "", voice = "", state, seconds = 0 }) {
  const short = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  const facts = [voice, state === "done" ? `${seconds.toFixed(1)} s` : ""].filter(Boolean);
  return `${name ? `${name}: ` : ""}${short}${facts.length ? ` (${facts.join(", ")})` : ""}`;
}

/** @returns {string} What is wrong with an item, and where. */
export const troubleLine = ({ line, name = "", reason }) => `Line ${line}${name ? `, ${name}` : ""}: ${reason}`;
