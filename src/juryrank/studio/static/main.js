// The frame of the page: header, views by the address after #, keys, messages, and the state of the server.

import { html, render, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { address, get } from "./api.js";
import { count, isNumber } from "./format.js";
import { useKeys } from "./keys.js";
import { connection, judgeName, message, onOtherTab, shortcuts, state, takeState, useCell } from "./store.js";
import { Compare } from "./views/compare.js";
import { Deploy } from "./views/deploy.js";
import { Judge } from "./views/judge.js";
import { Overview } from "./views/overview.js";
import { Query } from "./views/query.js";

const VIEWS = { overview: ["Overview", Overview], query: ["Query", Query], judge: ["Judge", Judge], compare: ["Compare", Compare], deploy: ["Deploy", Deploy] };
const POLL = 5000; // milliseconds between two looks at the state, while the page can be seen
const POLL_SOON = 1000; // while the server is away, or the labels are being read

function readAddress() {
  const [, view, ...rest] = location.hash.split("/");
  if (!(view in VIEWS)) return { view: "overview", id: null };
  try {
    return { view, id: rest.length ? decodeURIComponent(rest.join("/")) : null };
  } catch {
    return { view, id: null };
  }
}

function useAddress() {
  const [place, setPlace] = useState(readAddress);
  useEffect(() => {
    const move = () => setPlace(readAddress());
    window.addEventListener("hashchange", move);
    return () => window.removeEventListener("hashchange", move);
  }, []);
  return place;
}

async function refresh() {
  try {
    takeState(await get(address("/state")));
  } catch {
    // the banner says what is wrong, and the next look follows
  }
}

/** Looks at the state again and again: other judges and other programs write into the same file. */
function useFreshState(reachable, reading) {
  useEffect(() => {
    refresh();
    onOtherTab(refresh);
    const onShow = () => document.visibilityState === "visible" && refresh();
    document.addEventListener("visibilitychange", onShow);
    return () => document.removeEventListener("visibilitychange", onShow);
  }, []);
  useEffect(() => {
    const look = () => document.visibilityState === "visible" && refresh();
    const timer = setInterval(look, reachable === "fine" && !reading ? POLL : POLL_SOON);
    return () => clearInterval(timer);
  }, [reachable, reading]);
}

function Banner({ reachable }) {
  if (reachable === "fine") return null;
  const text =
    reachable === "lost"
      ? "The studio does not answer. What you judged is on disk; this page goes on as soon as the server is back."
      : "This page is not signed in: open the address with the token that `juryrank studio` printed.";
  return html`<div class="banner" role="alert">${text}</div>`;
}

/** What has happened; it lies on the header, so that it never covers what it is about. */
function Message() {
  const { text, number } = useCell(message);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!number) return undefined;
    setShown(true);
    const timer = setTimeout(() => setShown(false), 3500);
    return () => clearTimeout(timer);
  }, [number]);
  return html`<div class="toast ${shown ? "shown" : ""}" role="status" aria-live="polite">${shown ? text : ""}</div>`;
}

const HELP = [
  ["g then o, q, j, c, d", "Overview, Query, Judge, Compare, Deploy"],
  ["?", "this help"],
  ["Judge: 0 1 2 3", "give this grade"],
  ["Judge: u, s, m", "undo, skip, show more of the text"],
  ["Query: n, p", "next and previous query"],
  ["Query: /", "search"],
  ["↑ ↓ Page Home End", "move in lists; Enter opens a query"],
];

function Help({ dialog }) {
  const on = useCell(shortcuts) === "on";
  return html`
    <dialog ref=${dialog} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl class="keys">${HELP.map(([key, text]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
      <label class="check">
        <input type="checkbox" checked=${on} onChange=${(event) => shortcuts.set(event.target.checked ? "on" : "off")} />
        Keys act as shortcuts
      </label>
      <button type="button" onClick=${() => dialog.current.close()}>Close</button>
    </dialog>
  `;
}

function Header({ view, found, onHelp }) {
  return html`
    <header>
      <a class="skip" href="#heading" onClick=${(event) => (event.preventDefault(), document.getElementById("heading")?.focus())}>Skip to the content</a>
      <div class="brand">
        <strong>juryrank <span>studio</span></strong>
        ${found && html`<span class="muted data"><bdi>${found.title}</bdi> · ${count(found.queries, "query", "queries")} · ${count(found.experts.length, "expert")}</span>`}
      </div>
      <nav aria-label="Views">
        ${Object.entries(VIEWS).map(([name, [title]]) => html`<a key=${name} href=${`#/${name}`} aria-current=${name === view ? "page" : null}>${title}</a>`)}
      </nav>
      <div class="status">
        ${found && html`<span class="muted" id="judged">${isNumber(found.judged_items) ? count(found.judged_items, "judgement") : "reading the labels …"}</span>`}
        <button type="button" class="quiet" onClick=${onHelp} aria-label="Help: keys">?</button>
      </div>
      <${Message} />
    </header>
  `;
}

/** "g" and a letter lead to a view. */
function useViewKeys(onHelp) {
  const started = useRef(0);
  useKeys((key) => {
    if (key === "?") return onHelp() ?? true;
    const leads = performance.now() - started.current < 1500;
    started.current = key === "g" ? performance.now() : 0;
    const view = leads && Object.keys(VIEWS).find((name) => name[0] === key);
    if (view) location.hash = `#/${view}`;
    return Boolean(view);
  });
}

function App() {
  const { view, id } = useAddress();
  const found = useCell(state);
  const reachable = useCell(connection);
  const judge = useCell(judgeName);
  const dialog = useRef(null);
  const first = useRef(true);
  const onHelp = () => dialog.current.showModal();
  useFreshState(reachable, found?.enough.reading);
  useViewKeys(onHelp);
  useEffect(() => {
    document.title = `${VIEWS[view][0]} · juryrank studio`;
    if (!first.current) document.getElementById("heading")?.focus({ preventScroll: true });
    if (!first.current) window.scrollTo(0, 0);
    first.current = false;
  }, [view]);
  const View = VIEWS[view][1];
  return html`
    <${Header} view=${view} found=${found} onHelp=${onHelp} />
    <${Banner} reachable=${reachable} />
    <main>
      ${found
        ? html`<${View} key=${view} state=${found} version=${found.version} id=${id} judge=${judge || found.judge || "me"} />`
        : html`<h1 id="heading" tabindex="-1">juryrank studio</h1><p class="muted waiting">Loading …</p>`}
    </main>
    <${Help} dialog=${dialog} />
  `;
}

render(html`<${App} />`, document.getElementById("app"));
