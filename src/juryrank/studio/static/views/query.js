// One query: which queries there are, the lists side by side with the consensus, ranks as lines, and one item in detail.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { address, get, usePages } from "../api.js";
import { BumpChart } from "../charts.js";
import { useKeys } from "../keys.js";
import { Card, Heading, Waiting, queryAddress } from "../ui.js";
import { ItemDetail } from "./item.js";
import { Lists } from "./lists.js";
import { QueryList } from "./query_list.js";

const PAGE = 100; // ranks that are asked for at a time
const TRACES = 12; // items with a line in the chart of ranks
const DEPTH = 15; // ranks of that chart

function Methods({ methods, method, onMethod }) {
  return html`
    <fieldset class="methods">
      <legend>Method</legend>
      ${methods.map((name) => html`<label key=${name} class=${name === method ? "chosen" : ""}>
        <input type="radio" name="method" value=${name} checked=${name === method} onChange=${() => onMethod(name)} /><span>${name}</span>
      </label>`)}
    </fieldset>
  `;
}

/** The loaded part of the lists of a query: answers of pages, put together. */
function join(pages) {
  const parts = [...pages.entries()].sort(([a], [b]) => a - b).map(([, data]) => data);
  if (!parts.length) return null;
  const consensus = parts.flatMap((part) => part.consensus);
  const experts = parts[0].experts.map(({ name, length }, at) => {
    // equal ranks are possible, so an item stands at its place in the list
    const items = [...pages].flatMap(([page, part]) => part.experts[at].items.map((item, n) => ({ ...item, place: page * PAGE + n })));
    return { name, items, length };
  });
  return { ...parts[0], consensus, experts, total: parts[0].total };
}

/** What is known of an item: its row of the consensus, or else its places in the loaded lists. */
function findItem(data, id) {
  const row = data.consensus.find((item) => item.id === id);
  if (row || id === null) return row || null;
  const places = data.experts.flatMap(({ name, items }) => items.filter((item) => item.id === id).map((item) => [name, item.rank]));
  return places.length ? { id, rank: null, ranks: Object.fromEntries(places) } : null;
}

function OneQuery({ id, state, version }) {
  const [method, setMethod] = useState(null);
  const [rows, setRows] = useState([0, 30]);
  const [lit, setLit] = useState(null);
  const [chosen, setChosen] = useState(null);
  const key = JSON.stringify([id, method, version]);
  const urlOf = (offset, limit) => address("/query", { id, method, offset, limit });
  const found = usePages(key, urlOf, rows[0], rows[1], PAGE);
  const data = useMemo(() => join(found.pages), [found.pages, found.pages.size]);
  useEffect(() => {
    setChosen(null);
    setLit(null);
  }, [id]);
  if (!data || data.id !== id) return html`<${Heading}>Query<//><${Waiting} answer=${found} what="the lists" />`;
  const shownMethod = JSON.parse(found.key)[1] ?? data.method ?? data.methods[0];
  const pinned = findItem(data, chosen) || data.consensus[0] || null;
  const light = lit ?? pinned?.id ?? null;
  const traced = data.consensus.slice(0, TRACES);
  const extra = light !== null && !traced.some((item) => item.id === light) ? findItem(data, light) : null;
  const depth = Math.min(DEPTH, Math.max(5, data.total));
  return html`
    <${Heading}><bdi>${data.text || data.id}</bdi><//>
    <p class="muted small query-id">Query <bdi>${data.id}</bdi></p>
    <${Methods} methods=${data.methods} method=${method ?? shownMethod} onMethod=${setMethod} />
    ${data.note && html`<p class="muted small">${data.note}</p>`}
    ${found.error && html`<p class="problem" role="alert">${found.error.message}</p>`}
    <${Lists} key=${id} data=${data} experts=${state.experts} order=${`${id} ${shownMethod}`} method=${shownMethod} lit=${light} chosen=${pinned?.id ?? null}
      onLight=${setLit} onChoose=${setChosen} onRows=${setRows} />
    <div class="columns query-columns">
      <${Card} title="Ranks in every list" note="Each line is an item; its points are its ranks. The last line holds ranks below and lists without the item.">
        <${BumpChart} experts=${data.experts.map(({ name }) => name)} items=${extra ? [...traced, extra] : traced} lit=${light} onLight=${setLit} depth=${depth} />
      <//>
      ${pinned && html`<${ItemDetail} item=${findItem(data, lit) || pinned} experts=${state.experts} grades=${state.grades} />`}
    </div>
  `;
}

/** At once, so that no key is lost; after the next frame where the list of queries has to be opened first. */
function focusSearch(open) {
  const field = document.getElementById("search");
  field.focus();
  if (document.activeElement === field) return;
  open();
  requestAnimationFrame(() => field.focus());
}

export function Query({ state, version, id }) {
  const [open, setOpen] = useState(false); // the list of queries, on a narrow screen
  const place = useRef({ isKnown: false, index: 0, total: 0, search: "", sort: "id" });
  const waiting = useRef(0); // steps that keys asked for before the list was there
  const coming = useRef(null); // where the last key leads, until the answer is there
  const step = async (by) => {
    const { isKnown, index, total, search, sort } = place.current;
    waiting.current = isKnown ? 0 : waiting.current + by;
    if (!isKnown) return;
    const next = Math.max(0, Math.min(total - 1, (coming.current ?? index) + by));
    coming.current = next;
    const found = await get(address("/queries", { offset: next, limit: 1, search: search || null, sort })).catch(() => null);
    if (coming.current !== next) return;
    coming.current = null;
    if (!found?.queries.length || !location.hash.startsWith("#/query")) return; // somebody may have left the view meanwhile
    place.current.index = next;
    location.hash = queryAddress(found.queries[0].id);
  };
  useKeys((key) => {
    if (key === "/") focusSearch(() => setOpen(true));
    else if (key === "n" || key === "p") step(key === "n" ? 1 : -1);
    else return false;
    return true;
  });
  useLayoutEffect(() => setOpen(false), [id]);
  return html`
    <div class="query-view">
      <aside aria-label="Queries" class=${open ? "open" : ""}>
        <button type="button" class="quiet narrow-only" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "Close the list" : "Choose a query"}</button>
        <${QueryList} chosen=${id} version=${version} place=${place} onKnown=${() => waiting.current && step(waiting.current)} onFirst=${(first) => location.hash === "#/query" && location.replace(queryAddress(first))} />
      </aside>
      <div class="query-main">
        ${id === null ? html`<${Heading}>Query<//><p class="muted">Choose a query.</p>` : html`<${OneQuery} id=${id} state=${state} version=${version} />`}
      </div>
    </div>
  `;
}
