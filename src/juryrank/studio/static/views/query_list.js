// The list of queries: searched by the server, loaded in pages, and drawn only where it can be seen.

import { html, useEffect, useState } from "../vendor/preact-htm.js";
import { address, usePages } from "../api.js";
import { count, decimal, whole } from "../format.js";
import { Name, queryAddress } from "../ui.js";
import { rowAfterKey, showRow, useVisibleRows } from "../virtual.js";

const ROW = 56;
const PAGE = 50;
const SORTS = { id: "in the order of the data", disagreement: "most disagreement first", judged: "most judged first" };
const PAUSE = 150; // milliseconds after a key before the search starts

function useSearch() {
  const [typed, setTyped] = useState("");
  const [search, setSearch] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearch(typed.trim()), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  return [typed, setTyped, search];
}

function Row({ row, index, total, isActive, isChosen }) {
  if (!row) return html`<div class="query-row" style=${{ top: `${index * ROW}px` }} aria-hidden="true"><span class="muted">…</span></div>`;
  return html`
    <div class="query-row ${isActive ? "active" : ""}" id=${`query-${index}`} role="option" aria-selected=${isChosen} aria-setsize=${total} aria-posinset=${index + 1}
      data-index=${index} style=${{ top: `${index * ROW}px` }}>
      <${Name} text=${row.text || row.id} />
      <span class="facts-line">
        <small class="muted">${row.text ? html`<bdi>${row.id}</bdi> · ` : ""}${count(row.items, "item")} · ${row.judged ? `${whole(row.judged)} judged` : "not judged"}</small>
        <span class="bar" title=${`Disagreement of the experts near the top: ${decimal(row.disagreement, 2)}; 1 is the most disputed query`}><span style=${{ width: `${100 * row.disagreement}%` }}></span></span>
        <span class="visually-hidden">disagreement ${decimal(row.disagreement, 2)}</span>
      </span>
    </div>
  `;
}

export function QueryList({ chosen, version, place, onKnown, onFirst }) {
  const [typed, setTyped, search] = useSearch();
  const [total, setTotal] = useState(0);
  const [active, setActive] = useState(0);
  const [box, first, last] = useVisibleRows(total, ROW);
  const [sort, setSort] = useState("id");
  const key = JSON.stringify([search, sort, version]);
  const urlOf = (offset, limit) => address("/queries", { offset, limit, search: search || null, sort });
  const { pages, key: shown, error } = usePages(key, urlOf, first, Math.max(first, last - 1), PAGE);
  const rowAt = (index) => pages.get(Math.floor(index / PAGE))?.queries[index % PAGE];
  const known = pages.size ? pages.values().next().value.total : 0;
  useEffect(() => setTotal(known), [known]);
  useEffect(() => {
    if (rowAt(0) && !search) onFirst(rowAt(0).id);
  }, [shown]);
  useEffect(() => {
    setActive(0);
    if (box.current) box.current.scrollTop = 0;
  }, [search, sort]);
  useEffect(() => {
    place.current = { ...place.current, isKnown: shown !== null, total: known, search, sort };
    for (const [page, { queries }] of pages) {
      const at = queries.findIndex((query) => query.id === chosen);
      if (at < 0) continue;
      place.current.index = page * PAGE + at;
      setActive(page * PAGE + at);
    }
    if (shown !== null) onKnown();
  }, [chosen, shown, known]);
  const open = (index) => {
    const row = rowAt(index);
    if (row) location.hash = queryAddress(row.id);
  };
  const onKey = (event) => {
    if (event.key === "Enter") return open(active);
    const next = rowAfterKey(event.key, active, total, Math.max(1, Math.floor(box.current.clientHeight / ROW) - 1));
    if (next === null) return undefined;
    event.preventDefault();
    setActive(next);
    return showRow(box.current, next, ROW);
  };
  const onClick = (event) => {
    const row = event.target.closest("[data-index]");
    if (row) open(Number(row.getAttribute("data-index")));
  };
  const onSearchKey = (event) => {
    if (event.key === "ArrowDown" || event.key === "Enter") {
      event.preventDefault();
      box.current.focus();
    }
  };
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, n) => first + n);
  return html`
    <div class="query-list">
      <label class="field"><span class="visually-hidden">Search queries</span>
        <input id="search" type="search" placeholder="Search queries" value=${typed} onInput=${(event) => setTyped(event.target.value)} onKeyDown=${onSearchKey} />
      </label>
      <div class="list-head">
        <p class="muted small" role="status">${error ? error.message : count(known, "query", "queries")}</p>
        <label class="field"><span class="visually-hidden">Order</span>
          <select value=${sort} onChange=${(event) => setSort(event.target.value)}>${Object.entries(SORTS).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}</select>
        </label>
      </div>
      <div ref=${box} class="rows" role="listbox" tabindex="0" aria-label="Queries" aria-activedescendant=${rowAt(active) ? `query-${active}` : null} onKeyDown=${onKey} onClick=${onClick}>
        <div class="canvas" role="presentation" style=${{ height: `${total * ROW}px` }}>
          ${indices.map((index) => html`<${Row} key=${index} row=${rowAt(index)} index=${index} total=${total} isActive=${index === active} isChosen=${rowAt(index)?.id === chosen} />`)}
        </div>
      </div>
    </div>
  `;
}
