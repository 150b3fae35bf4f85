// Shortcuts of one key. They can be switched off, and none acts while somebody types.

import { useLayoutEffect, useRef } from "./vendor/preact-htm.js";
import { shortcuts } from "./store.js";

const isTyping = (target) =>
  target instanceof Element && target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select") !== null;

const isOpenDialog = () => document.querySelector("dialog[open]") !== null;

/** Calls `act(key)` for every single key; it returns true if it used the key. */
export function useKeys(act) {
  const latest = useRef(act);
  latest.current = act; // what a key does always belongs to what is shown
  useLayoutEffect(() => { // not after the next frame: a key between would be lost
    const onKey = (event) => {
      if (shortcuts.value !== "on" || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
      if (event.defaultPrevented || isTyping(event.target) || isOpenDialog()) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
