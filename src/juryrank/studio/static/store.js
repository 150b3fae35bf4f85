// What all views share: the state of the data and of the judgements, who judges, and whether the server answers.

import { useEffect, useState } from "./vendor/preact-htm.js";

/** A value that views can watch. */
class Cell {
  constructor(value) {
    this.value = value;
    this.watchers = new Set();
  }

  set(value) {
    if (value === this.value) return;
    this.value = value;
    this.watchers.forEach((watcher) => watcher(value));
  }
}

/** The value of a cell; the view is drawn again when it changes. */
export function useCell(cell) {
  const [, redraw] = useState(0);
  useEffect(() => {
    const watcher = () => redraw((n) => n + 1);
    cell.watchers.add(watcher);
    watcher(); // it may have changed before this effect
    return () => cell.watchers.delete(watcher);
  }, [cell]);
  return cell.value;
}

/** A text that is kept in this browser, where it allows that. */
function remembered(name, fallback) {
  let cell;
  try {
    cell = new Cell(localStorage.getItem(name) ?? fallback);
    cell.watchers.add((value) => localStorage.setItem(name, value));
  } catch {
    cell = new Cell(fallback);
  }
  return cell;
}

export const state = new Cell(null); // the answer of /state
export const connection = new Cell("fine"); // or "lost", or "forbidden"
export const message = new Cell({ text: "", number: 0 }); // the last event, for the eye and for screen readers
export const judgeName = remembered("juryrank.judge", "");
export const shortcuts = remembered("juryrank.shortcuts", "on");

export function say(text) {
  message.set({ text, number: message.value.number + 1 });
}

// Other tabs with the same studio hear at once that something was judged.
const channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("juryrank-studio");

/** A new state, from an answer of the server; `tell` the other tabs if this tab changed it. */
export function takeState(found, { tell = false } = {}) {
  state.set(found);
  if (tell) channel?.postMessage(found.version);
}

export function onOtherTab(react) {
  channel?.addEventListener("message", react);
}
