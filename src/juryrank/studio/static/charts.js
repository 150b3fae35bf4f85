// Charts, drawn as SVG by hand. Colours come from classes of the style sheet.

import { html } from "./vendor/preact-htm.js";
import { decimal, isNumber, shorten, signed } from "./format.js";
import { colourOf, useWidth } from "./ui.js";

const path = (points) => points.map(([x, y], n) => `${n ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");

/** Three or so round numbers between two limits. */
export function ticks(low, high, wanted = 4) {
  const raw = (high - low) / wanted || 1;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * size).find((n) => n >= raw);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high + step * 1e-9; n++) found.push(n * step);
  return found;
}

const digitsOf = (values) => Math.min(4, Math.max(0, ...values.map((x) => (String(Number(x.toFixed(4))).split(".")[1] || "").length)));

/** The points that a rank of an expert gives: a small curve, on the scale of all experts. */
export function SmallCurve({ points, range, colour, label }) {
  const [box, width] = useWidth(200);
  const height = 76;
  const last = Math.max(...points.map((p) => p.rank));
  const [bottom, top] = range;
  const x = (rank) => 2 + (Math.log(rank) / Math.log(Math.max(2, last))) * (width - 4);
  const y = (value) => height - 14 - ((value - bottom) / (top - bottom || 1)) * (height - 18);
  const line = path(points.map((p) => [x(p.rank), y(p.points)]));
  return html`
    <div ref=${box} class="chart">
      <svg width=${width} height=${height} role="img" aria-label=${label} class=${colour}>
        <line class="axis" x1="0" x2=${width} y1=${y(0)} y2=${y(0)} />
        <path class="area" d=${`${line}L${x(last).toFixed(1)} ${y(0)}L${x(points[0].rank).toFixed(1)} ${y(0)}Z`} />
        <path class="line" d=${line} />
        <text x="2" y=${height - 2}>rank 1</text>
        <text x=${width - 2} y=${height - 2} text-anchor="end">${last}</text>
      </svg>
    </div>
  `;
}

/** Gain over the number of judgements, with the band of its interval. */
export function LearningCurve({ points }) {
  const [box, width] = useWidth(560);
  const height = 220;
  const [left, right, top, bottom] = [52, 12, 12, 34];
  const lowest = Math.min(0, ...points.map((p) => p.low ?? p.gain));
  const highest = Math.max(0, ...points.map((p) => p.high ?? p.gain));
  const [first, last] = [points[0].judgements, points[points.length - 1].judgements];
  const x = (n) => left + ((n - first) / (last - first || 1)) * (width - left - right);
  const y = (v) => height - bottom - ((v - lowest) / (highest - lowest || 1)) * (height - top - bottom);
  const banded = points.filter((p) => isNumber(p.low) && isNumber(p.high));
  const band = [...banded.map((p) => [x(p.judgements), y(p.high)]), ...banded.toReversed().map((p) => [x(p.judgements), y(p.low)])];
  const marks = ticks(lowest, highest, 4);
  const end = points[points.length - 1];
  const label = `Held-out gain over RRF by the number of judgements: ${signed(end.gain)} after ${end.judgements}, interval ${signed(end.low)} to ${signed(end.high)}.`;
  return html`
    <div ref=${box} class="chart">
      <svg width=${width} height=${height} role="img" aria-label=${label}>
        ${marks.map((v) => html`<g key=${v}>
          <line class=${Math.abs(v) < 1e-12 ? "axis" : "grid"} x1=${left} x2=${width - right} y1=${y(v)} y2=${y(v)} />
          <text x=${left - 8} y=${y(v) + 4} text-anchor="end">${signed(v, digitsOf(marks))}</text>
        </g>`)}
        <path class="band" d=${band.length > 1 ? `${path(band)}Z` : ""} />
        <path class="line accent" d=${path(points.map((p) => [x(p.judgements), y(p.gain)]))} />
        ${points.map((p) => html`<circle key=${p.judgements} class="point accent" cx=${x(p.judgements)} cy=${y(p.gain)} r="3.5">
          <title>${p.judgements} judgements: ${signed(p.gain)} (${signed(p.low)} to ${signed(p.high)})</title>
        </circle>`)}
        ${[first, ...ticks(first, last, width / 110).filter((n) => n > first && n < last && Number.isInteger(n)), last].map(
          (n, at, all) => (at && at < all.length - 1 && Math.min(x(n) - x(first), x(last) - x(n)) < 28) ||
            html`<text key=${n} x=${x(n)} y=${height - bottom + 17} text-anchor="middle">${n}</text>`,
        )}
        <text x=${(left + width - right) / 2} y=${height - 2} text-anchor="middle">judgements</text>
      </svg>
    </div>
  `;
}

/** A mean with its interval on an axis from `low` to `high`. */
export function IntervalMark({ value, low, high, baseline, className = "" }) {
  const width = 180;
  const x = (v) => 6 + ((v - low) / (high - low || 1)) * (width - 12);
  if (!isNumber(value.mean)) return null;
  return html`
    <svg class="interval ${className}" width=${width} height="18" viewBox=${`0 0 ${width} 18`} aria-hidden="true">
      ${isNumber(baseline) && html`<line class="grid" x1=${x(baseline)} x2=${x(baseline)} y1="0" y2="18" />`}
      ${isNumber(value.low) && isNumber(value.high) && html`<line class="whisker" x1=${x(value.low)} x2=${x(value.high)} y1="9" y2="9" />`}
      <circle class="point" cx=${x(value.mean)} cy="9" r="4.5" />
    </svg>
  `;
}

/** How alike the lists of each two experts are: a table, darker where they are more alike. */
export function Matrix({ experts, matrix }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Redundancy matrix">
      <table class="matrix">
        <caption class="visually-hidden">How alike the lists of each two experts are, 1 is the same</caption>
        <thead><tr><td></td>${experts.map((name) => html`<th scope="col" key=${name}><bdi title=${name}>${shorten(name, 10)}</bdi></th>`)}</tr></thead>
        <tbody>
          ${experts.map((name, row) => html`<tr key=${name}>
            <th scope="row"><bdi title=${name}>${shorten(name, 22)}</bdi></th>
            ${matrix[row].map((value, column) =>
              row === column
                ? html`<td key=${column} class="same" aria-label="itself">·</td>`
                : html`<td key=${column} style=${{ "--share": isNumber(value) ? Math.max(0, value) : 0 }}>${decimal(value, 2)}</td>`)}
          </tr>`)}
        </tbody>
      </table>
    </div>
  `;
}

/** Ranks of items in the consensus and in every list, as lines; the lit item is in front. */
export function BumpChart({ experts, items, lit, onLight, depth }) {
  const [box, width] = useWidth(700);
  const columns = ["consensus", ...experts];
  const [rowHeight, top, side] = [20, 30, Math.min(60, width / columns.length / 2)];
  const height = top + (depth + 1) * rowHeight + 8;
  const x = (column) => side + (column / (columns.length - 1 || 1)) * (width - 2 * side);
  const y = (rank) => top + Math.min(depth + 1, rank) * rowHeight - rowHeight / 2;
  const room = Math.max(3, Math.floor((width - 2 * side) / (columns.length - 1 || 1) / 7.5));
  const ranksOf = (item) => [item.rank, ...experts.map((name) => item.ranks[name])];
  const below = (rank) => !isNumber(rank) || rank > depth;
  const ordered = items.toSorted((a, b) => (a.id === lit) - (b.id === lit)); // what is drawn last is in front
  return html`
    <div ref=${box} class="chart bump ${items.some((item) => item.id === lit) ? "has-lit" : ""}">
      <svg width=${width} height=${height} role="img" aria-label=${`Ranks of the first ${items.length} items of the consensus in each list; the same numbers are in the lists above.`}>
        ${columns.map((name, at) => html`<g key=${name + at}>
          <line class="grid" x1=${x(at)} x2=${x(at)} y1=${top - 4} y2=${height - 8} />
          <text class=${at ? "column" : "column strong"} x=${x(at)} y="16" text-anchor="middle">${shorten(name, room)}<title>${name}</title></text>
        </g>`)}
        ${[1, 5, 10, 15].filter((rank) => rank <= depth).map((rank) => html`<text key=${rank} x="0" y=${y(rank) + 4}>${rank}</text>`)}
        <text x="0" y=${y(depth + 1) + 4}>below</text>
        ${ordered.map((item) => html`<g key=${item.id} class=${item.id === lit ? "trace lit" : "trace"} onMouseEnter=${() => onLight(item.id)}>
          <title>${item.title || item.id}</title>
          <path d=${path(ranksOf(item).map((rank, at) => [x(at), y(below(rank) ? depth + 1 : rank)]))} />
          ${ranksOf(item).map((rank, at) => html`<circle key=${at} class=${`${at ? colourOf(experts, columns[at]) : "consensus"} ${below(rank) ? "absent" : ""}`} cx=${x(at)} cy=${y(below(rank) ? depth + 1 : rank)} r=${item.id === lit ? 6 : 4} />`)}
          ${item.id === lit && ranksOf(item).map((rank, at) => html`<text key=${`rank${at}`} class="rank" x=${x(at) + 9} y=${y(below(rank) ? depth + 1 : rank) - 7}>${isNumber(rank) ? rank : "–"}</text>`)}
        </g>`)}
      </svg>
    </div>
  `;
}

/** The contributions of experts to a score, one after the other; negative ones are striped. */
export function StackedBar({ contributions, experts, scale }) {
  const parts = experts.filter((name) => isNumber(contributions?.[name]) && contributions[name] !== 0);
  return html`
    <span class="stack" aria-hidden="true">
      ${parts.map((name) => html`<span
        key=${name}
        class=${`${colourOf(experts, name)}${contributions[name] < 0 ? " negative" : ""}`}
        title=${`${name}: ${signed(contributions[name], 4)}`}
        style=${{ width: `${(100 * Math.abs(contributions[name])) / (scale || 1)}%` }}
      ></span>`)}
    </span>
  `;
}

/** A difference as a bar to the left or to the right of the middle. */
export function DifferenceBar({ value, scale }) {
  const share = 50 * Math.min(1, Math.abs(value) / (scale || 1));
  return html`
    <span class="difference-bar" aria-hidden="true">
      <span class=${value < 0 ? "worse" : "better"} style=${{ width: `${share}%`, left: `${value < 0 ? 50 - share : 50}%` }}></span>
    </span>
  `;
}
