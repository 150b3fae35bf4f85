// Methods and single experts in one table; a difference leads to the queries that make it.

import { html, useLayoutEffect, useState } from "../vendor/preact-htm.js";
import { address, useAnswer } from "../api.js";
import { DifferenceBar, IntervalMark } from "../charts.js";
import { count, decimal, isNumber, pValue, percent, signed } from "../format.js";
import { Card, Heading, Name, NotEnough, QueryName, Waiting, queryAddress } from "../ui.js";

const METRICS = ["nDCG@10"];
const MOST = 200; // queries that the server sends
const STEP = 25; // queries that are shown at a time

/** What the server calls a row: an expert may have the name of a method. */
const labelOf = (row) => row.label ?? row.name;

function Row({ row, baseline, range, chosen, onChoose }) {
  const isBaseline = row === baseline;
  return html`
    <tr class=${chosen ? "chosen" : ""}>
      <th scope="row"><${Name} text=${row.name} /> <small class="muted">${row.kind}</small></th>
      <td class="number">${decimal(row.mean)} <small class="muted">${decimal(row.low)} to ${decimal(row.high)}</small></td>
      <td class="wide-only"><${IntervalMark} value=${row} ...${range} baseline=${baseline.mean} className=${row.kind} /></td>
      <td class="number">
        ${isBaseline
          ? html`<span class="muted">baseline</span>`
          : html`<button type="button" class="link" aria-pressed=${chosen} onClick=${onChoose} aria-label=${`Difference of ${row.name}: ${signed(row.difference)}; show its queries`}>${signed(row.difference)}</button> <small class="muted">${signed(row.difference_low)} to ${signed(row.difference_high)}</small>`}
      </td>
      <td class="number ${isNumber(row.p) && row.p < 0.05 ? "strong" : ""}">${isBaseline ? "" : pValue(row.p)}</td>
      <td class="number wide-only">${percent(row.judged)}</td>
    </tr>
  `;
}

function Table({ data, one, onChoose }) {
  const rows = data.rows.toSorted((a, b) => b.mean - a.mean);
  const baseline = rows.find((row) => labelOf(row) === data.baseline) || {};
  const ends = data.rows.flatMap((row) => [row.low ?? row.mean, row.high ?? row.mean]).filter(isNumber);
  const range = { low: Math.min(...ends), high: Math.max(...ends) };
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="Comparison of methods and experts">
      <table class="comparison">
        <thead>
          <tr>
            <th scope="col">Method or expert</th><th scope="col" class="number">${data.metric}, 95 %</th><th scope="col" class="wide-only"><span class="visually-hidden">Interval as a chart</span></th>
            <th scope="col" class="number">to <${Name} text=${data.baseline || "–"} /></th><th scope="col" class="number">p</th><th scope="col" class="number wide-only">judged</th>
          </tr>
        </thead>
        <tbody>
          ${rows.map((row) => html`<${Row} key=${labelOf(row)} row=${row} baseline=${baseline} range=${range} chosen=${labelOf(row) === one} onChoose=${() => onChoose(labelOf(row))} />`)}
        </tbody>
      </table>
    </div>
  `;
}

function Queries({ one, other, metric, rows, onOther, version }) {
  const answer = useAnswer(address("/compare/queries", { one, other, metric }), version);
  const [shown, setShown] = useState(STEP);
  useLayoutEffect(() => setShown(STEP), [one, other, metric]);
  const queries = answer.data?.queries;
  const scale = Math.max(1e-9, ...(queries || []).slice(0, 1).map((query) => Math.abs(query.difference)));
  const unequal = queries?.filter((query) => query.difference !== 0);
  const better = queries?.filter((query) => query.difference > 0).length;
  const worse = queries?.filter((query) => query.difference < 0).length;
  return html`
    <${Card} title="Queries that make the difference" className="deciding">
      <div class="row">
        <span><strong><${Name} text=${rows.find((row) => labelOf(row) === one).name} /></strong> compared with</span>
        <label class="field inline"><span class="visually-hidden">compared with</span>
          <select value=${other} onChange=${(event) => onOther(event.target.value)}>
            ${rows.filter((row) => labelOf(row) !== one).map((row) => html`<option key=${labelOf(row)} value=${labelOf(row)} selected=${labelOf(row) === other}>${row.name}</option>`)}
          </select>
        </label>
      </div>
      ${!queries
        ? html`<${Waiting} answer=${answer} what="the queries" />`
        : html`
            <p class="muted" role="status">${count(better, "query is better", "queries are better")}, ${count(worse, "is worse", "are worse")}, ${count(queries.length - better - worse, "is equal", "are equal")}${queries.length >= MOST ? ` (of the ${MOST} with the largest difference)` : ""}.</p>
            <ol class="deciding-list">
              ${unequal.slice(0, shown).map((query) => html`<li key=${query.id}>
                <a href=${queryAddress(query.id)}><${QueryName} id=${query.id} text=${query.text} /></a>
                <span class="number muted">${decimal(query.one)} <span aria-hidden="true">/</span><span class="visually-hidden">and</span> ${decimal(query.other)}</span>
                <${DifferenceBar} value=${query.difference} scale=${scale} />
                <span class="number">${signed(query.difference)}</span>
              </li>`)}
            </ol>
            ${unequal.length > shown && html`<button type="button" class="quiet" onClick=${() => setShown(shown + 4 * STEP)}>More queries</button>`}
          `}
    <//>
  `;
}

export function Compare({ state, version }) {
  const [metric, setMetric] = useState(METRICS[0]);
  const [pair, setPair] = useState(null);
  const answer = useAnswer(address("/compare", { metric }), version);
  const data = answer.data;
  if (!data) return html`<${Heading}>Compare<//><${Waiting} answer=${answer} what="the comparison" />`;
  if (data.hidden) return html`<${Heading}>Compare<//><${Card}><${NotEnough} enough=${state.enough} queries=${state.queries} /><//>`;
  const names = data.rows.map(labelOf);
  const chosen = pair && names.includes(pair.one) && names.includes(pair.other) && pair.one !== pair.other ? pair : null;
  return html`
    <${Heading}>Compare<//>
    <${Card}>
      <div class="row">
        <label class="field inline">Metric
          <select value=${metric} onChange=${(event) => setMetric(event.target.value)}>
            ${(data.metrics || METRICS).map((name) => html`<option key=${name} value=${name} selected=${name === metric}>${name}</option>`)}
          </select>
        </label>
        ${(answer.pending || answer.error) && html`<${Waiting} answer=${answer} what="the comparison" />`}
      </div>
      <${Table} data=${data} one=${chosen?.one} onChoose=${(one) => setPair({ one, other: data.baseline })} />
      ${data.note && html`<p class="muted small">${data.note}</p>`}
      ${!chosen && html`<p class="muted small">Click a difference to see the queries that make it.</p>`}
    <//>
    ${chosen && html`<${Queries} ...${chosen} metric=${data.metric} rows=${data.rows} version=${version} onOther=${(other) => setPair({ ...chosen, other })} />`}
  `;
}
