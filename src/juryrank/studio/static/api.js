// Calls of the studio's API. Every answer is JSON; an error is a problem with a sentence in `detail`.

import { useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { connection, useCell } from "./store.js";

const ROOT = "/studio/api";
const FIRST_PAUSE = 200; // milliseconds before a pending answer is asked for again; pauses grow
const LONGEST_PAUSE = 2000;

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** The address of a call; names of queries and items are percent-encoded parameters. */
export function address(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== null && value !== undefined);
  const text = new URLSearchParams(given).toString();
  return ROOT + path + (text && `?${text}`);
}

async function call(url, options = {}) {
  let answer;
  try {
    answer = await fetch(url, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name !== "AbortError") connection.set("lost");
    throw error.name === "AbortError" ? error : new ApiError(0, "The studio does not answer.");
  }
  connection.set(answer.status === 403 ? "forbidden" : "fine");
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new ApiError(answer.status, problem.detail || problem.title || `The studio answered with status ${answer.status}.`);
}

const pause = (time, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, time);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("not needed any more", "AbortError"));
    });
  });

/**
 * GET; asks again until nothing of the answer is still being computed. What is known before goes to `onPart`: null, or
 * an answer that names in `working` what it lacks.
 */
export async function get(url, { signal, onPart } = {}) {
  for (let time = FIRST_PAUSE; ; time = Math.min(LONGEST_PAUSE, 1.5 * time)) {
    const found = await (await call(url, { signal })).json();
    if (!found.pending && !found.working?.length) return found;
    onPart?.(found.pending ? null : found);
    await pause(time, signal);
  }
}

export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await call(address(path), { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** The text of a file. */
export async function text(url) {
  return (await call(url)).text();
}

/** Saves a file; an error of the server is an error here, not a file. */
export async function download(url) {
  const answer = await call(url);
  const name = /filename="([^"]*)"/.exec(answer.headers.get("Content-Disposition") || "")?.[1];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = name || "download";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return link.download;
}

/**
 * The answer at `url`, asked for again when `version` changes; the old one stays until the new one is there,
 * with the `url` and the `version` that it belongs to.
 */
export function useAnswer(url, version) {
  const [answer, setAnswer] = useState({ data: null, error: null, pending: false, url: null, version: null });
  const retry = useCell(connection) === "fine" && answer.error !== null; // once more when the server is back
  useEffect(() => {
    if (!url) return undefined;
    const control = new AbortController();
    const onPart = (data) =>
      control.signal.aborted || setAnswer((old) => (data ? { data, error: null, pending: true, url, version } : { ...old, pending: true }));
    get(url, { signal: control.signal, onPart }).then(
      (data) => control.signal.aborted || setAnswer({ data, error: null, pending: false, url, version }),
      (error) => control.signal.aborted || setAnswer((old) => ({ ...old, error, pending: false })),
    );
    return () => control.abort();
  }, [url, version, retry]);
  return answer;
}

/**
 * Pages of a long list: those with the rows from `first` to `last` are loaded. `key` names the list; when it
 * changes, the old pages stay until the first page of the new list is there.
 */
export function usePages(key, urlOf, first, last, size) {
  const shown = useRef({ key: null, pages: new Map() });
  const coming = useRef(null);
  const [error, setError] = useState(null);
  const [, redraw] = useState(0);
  const reachable = useCell(connection);
  if (coming.current?.key !== key) {
    coming.current?.control.abort();
    coming.current = { key, pages: new Map(), asked: new Set(), control: new AbortController() };
  }
  const from = Math.floor(first / size);
  const to = Math.floor(Math.max(first, last) / size);
  useEffect(() => {
    const list = coming.current;
    for (let page = from; page <= to; page++) {
      if (list.asked.has(page)) continue;
      list.asked.add(page);
      get(urlOf(page * size, size), { signal: list.control.signal }).then(
        (data) => {
          list.pages.set(page, data);
          if (coming.current !== list) return;
          shown.current = list;
          setError(null);
          redraw((n) => n + 1);
        },
        (problem) => {
          list.asked.delete(page);
          if (problem.name !== "AbortError" && coming.current === list) setError(problem);
        },
      );
    }
  }, [key, from, to, reachable]);
  useEffect(() => () => coming.current.control.abort(), []);
  return { pages: shown.current.pages, key: shown.current.key, error };
}
