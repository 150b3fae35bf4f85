// The consensus and the lists of all experts side by side; one rank is one row, and only visible rows are drawn.

import { html, useEffect, useMemo } from "../vendor/preact-htm.js";
import { StackedBar } from "../charts.js";
import { count, isNumber } from "../format.js";
import { Expert, Name } from "../ui.js";
import { rowAfterKey, showRow, useMovingRows, useVisibleRows } from "../virtual.js";

const ROW = 34;
const HEADER = 44; // pixels of the names above the lists

/** How many ranks an item went up or down when the method was changed. */
function Move({ before, rank }) {
  if (!isNumber(before) || before === rank) return html`<span class="move"></span>`;
  const up = before > rank;
  return html`<span class="move ${up ? "up" : "down"}"><span aria-hidden="true">${up ? "▲" : "▼"}</span><span class="visually-hidden">${up ? "up" : "down"} </span>${Math.abs(before - rank)}</span>`;
}

function ConsensusRow({ item, experts, scale, before, isLit, isChosen, total }) {
  return html`
    <div id=${`rank-${item.rank}`} class="cell consensus ${isLit ? "lit" : ""} ${isChosen ? "active" : ""}" role="option" aria-selected=${isChosen} aria-setsize=${total} aria-posinset=${item.rank}
      data-item=${item.id} data-moves=${item.id} style=${{ top: `${(item.rank - 1) * ROW}px` }}>
      <span class="rank">${item.rank}</span><${Name} text=${item.title || item.id} />
      ${isNumber(item.label) ? html`<span class="label" title="label"><span class="visually-hidden">label </span>${item.label}</span>` : html`<span></span>`}
      <${Move} before=${before} rank=${item.rank} />
      <${StackedBar} contributions=${item.contributions} experts=${experts} scale=${scale} />
    </div>
  `;
}

function ExpertColumn({ expert, experts, titles, first, last, lit, height }) {
  const items = expert.items.filter(({ place }) => place >= first && place < last);
  return html`
    <div class="column">
      <div class="column-head"><${Expert} experts=${experts} name=${expert.name} /><small class="muted">${expert.length ? count(expert.length, "item") : "no list"}</small></div>
      <ol class="canvas" aria-label=${`List of ${expert.name}`} style=${{ height: `${height}px` }}>
        ${items.map((item) => html`<li key=${item.id} class="cell ${item.id === lit ? "lit" : ""}" data-item=${item.id} style=${{ top: `${item.place * ROW}px` }}>
          <span class="rank">${item.rank}</span><${Name} text=${titles.get(item.id) || item.id} />
        </li>`)}
      </ol>
    </div>
  `;
}

const sizeOf = (item) => Object.values(item.contributions || {}).reduce((sum, x) => sum + (isNumber(x) ? Math.abs(x) : 0), 0);

export function Lists({ data, experts, order, method, lit, chosen, onLight, onChoose, onRows }) {
  const total = Math.max(data.total, ...data.experts.map(({ length }) => length));
  const [box, first, last] = useVisibleRows(total, ROW, 500);
  const ranks = useMemo(() => new Map(data.consensus.map((item) => [item.id, item.rank])), [data.consensus]);
  const titles = useMemo(() => new Map(data.consensus.filter(({ title }) => title).map(({ id, title }) => [id, title])), [data.consensus]);
  const before = useMovingRows(box, order, ranks, ROW);
  const scale = Math.max(0, ...data.consensus.map(sizeOf));
  useEffect(() => onRows([first, Math.max(first, last - 1)]), [first, last]);
  const height = total * ROW;
  const visible = data.consensus.filter((item) => item.rank > first && item.rank <= last);
  const active = ranks.get(chosen) ?? null;
  const itemAt = (event) => event.target.closest?.("[data-item]")?.getAttribute("data-item") ?? null;
  const onKey = (event) => {
    const next = rowAfterKey(event.key, (active ?? 1) - 1, data.total, Math.max(1, Math.floor((box.current.clientHeight - HEADER) / ROW) - 1));
    if (next === null) return;
    event.preventDefault();
    showRow(box.current, next, ROW, HEADER);
    const item = data.consensus.find(({ rank }) => rank === next + 1);
    if (item) onChoose(item.id);
    onLight(null);
  };
  return html`
    <div ref=${box} class="lists" role="region" aria-label="Lists side by side"
      onMouseOver=${(event) => onLight(itemAt(event))} onMouseLeave=${() => onLight(null)} onClick=${(event) => itemAt(event) !== null && onChoose(itemAt(event))}>
      <div class="column first">
        <div class="column-head"><strong>Consensus</strong><small class="muted">${method}, ${count(data.total, "item")}</small></div>
        <div class="canvas" role="listbox" tabindex="0" aria-label=${`Consensus by ${method}`} aria-activedescendant=${visible.some(({ rank }) => rank === active) ? `rank-${active}` : null} style=${{ height: `${height}px` }} onKeyDown=${onKey}>
          ${visible.map((item) => html`<${ConsensusRow} key=${item.id} item=${item} experts=${experts} scale=${scale} before=${before?.get(item.id)} isLit=${item.id === lit} isChosen=${item.id === chosen} total=${data.total} />`)}
        </div>
      </div>
      ${data.experts.map((expert, at) => html`<${ExpertColumn} key=${at} expert=${expert} experts=${experts} titles=${titles} first=${first} last=${last} lit=${lit} height=${height} />`)}
    </div>
  `;
}
