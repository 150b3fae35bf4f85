// Lists of which only the visible rows are drawn.

import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";

const SPARE = 6; // rows drawn above and below the visible ones

/** The rows that a scrolling element shows: [element, first, last], last is exclusive. */
export function useVisibleRows(total, rowHeight, fallbackHeight = 600) {
  const element = useRef(null);
  const [place, setPlace] = useState({ top: 0, height: fallbackHeight });
  useEffect(() => {
    const box = element.current;
    const look = () => setPlace({ top: Math.floor(box.scrollTop / rowHeight) * rowHeight, height: box.clientHeight });
    const watcher = new ResizeObserver(look);
    watcher.observe(box);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      watcher.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, [rowHeight]);
  const first = Math.max(0, Math.min(total, Math.floor(place.top / rowHeight)) - SPARE);
  const last = Math.min(total, Math.ceil((place.top + place.height) / rowHeight) + SPARE);
  return [element, first, last];
}

/** Moves the scroll position so that a row can be seen. */
export function showRow(box, row, rowHeight, header = 0) {
  const top = row * rowHeight;
  const room = box.clientHeight - header;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + room) box.scrollTop = top + rowHeight - room;
}

/** The row that an arrow key leads to, or null if the key is not one of a list. */
export function rowAfterKey(key, row, total, page) {
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
  if (key === "Home") return 0;
  if (key === "End") return total - 1;
  return key in steps ? Math.max(0, Math.min(total - 1, row + steps[key])) : null;
}

const motionIsFine = () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Animates rows to their new places after a change: `ranks` maps names to ranks, and `key` names the order that is
 * shown. Returns the ranks before the last change of the key.
 */
export function useMovingRows(box, key, ranks, rowHeight) {
  const now = useRef({ key, ranks });
  const before = useRef(null);
  if (now.current.key !== key) before.current = now.current.ranks;
  useLayoutEffect(() => {
    const changed = now.current.key !== key;
    now.current = { key, ranks };
    if (!changed || !before.current || !motionIsFine()) return;
    for (const cell of box.current.querySelectorAll("[data-moves]")) {
      const name = cell.getAttribute("data-moves");
      const old = before.current.get(name);
      const rows = old === undefined ? 0 : Math.max(-40, Math.min(40, old - ranks.get(name)));
      const start = old === undefined ? { opacity: 0 } : { transform: `translateY(${rows * rowHeight}px)` };
      if (rows || old === undefined) cell.animate([start, {}], { duration: 500, easing: "cubic-bezier(.2, .8, .2, 1)" });
    }
  });
  return before.current;
}
