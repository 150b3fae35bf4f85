// Who the experts are, whether learned fusion pays, and how sure that is.

import { html } from "../vendor/preact-htm.js";
import { address, useAnswer } from "../api.js";
import { IntervalMark, LearningCurve, Matrix, SmallCurve } from "../charts.js";
import { capitalised, count, decimal, isNumber, percent, signed, whole } from "../format.js";
import { Card, Estimate, Expert, Heading, Name, NotEnough, Waiting, colourOf } from "../ui.js";

/** The alternatives by their names; in each query, the expert is the one that is best on others, which may be several. */
const NAMES = { learned: "learned fusion", rrf: "RRF", expert: "best expert of other queries" };

function Means({ means, names }) {
  const rows = Object.entries(means).filter(([, mean]) => isNumber(mean)).sort((a, b) => b[1] - a[1]);
  return html`
    <dl class="means">
      ${rows.map(([name, mean]) => html`<div key=${name}><dt><${Name} text=${names[name] || name} /></dt><dd>${decimal(mean)}</dd></div>`)}
    </dl>
  `;
}

function Differences({ differences, names }) {
  const rows = Object.entries(differences).filter(([, value]) => value && isNumber(value.mean));
  const low = Math.min(0, ...rows.map(([, d]) => d.low ?? d.mean));
  const high = Math.max(0, ...rows.map(([, d]) => d.high ?? d.mean));
  return html`
    <table class="plain">
      <thead><tr><th scope="col">Held-out difference</th><th scope="col" class="number">mean, 95 % interval</th><th scope="col" class="wide-only"><span class="visually-hidden">interval as a chart</span></th></tr></thead>
      <tbody>
        ${rows.map(([name, d]) => html`<tr key=${name}>
          <th scope="row"><${Name} text=${name.split(" - ").map((each) => names[each] || each).join(" − ")} /></th>
          <td class="number">${signed(d.mean)} <small class="muted">${signed(d.low)} to ${signed(d.high)}</small></td>
          <td class="wide-only"><${IntervalMark} value=${d} low=${low} high=${high} baseline=${0} /></td>
        </tr>`)}
      </tbody>
    </table>
  `;
}

function Verdict({ verdict, advice, enough, queries }) {
  const { now, needed } = enough;
  if (!verdict && now >= needed) return html`<${Card} className="verdict" title="Verdict"><p class="muted waiting">Computing the verdict …</p><//>`;
  if (!verdict) return html`<${Card} className="verdict" title="Verdict"><${NotEnough} enough=${enough} queries=${queries} /><//>`;
  const [sentence, ...cautions] = verdict.details.split(/(?<=\.) (?=[A-Z])/);
  return html`
    <${Card} className="verdict" title="Verdict">
      <p class="choice">${capitalised(verdict.headline)}</p>
      <p class="sentence">${sentence}</p>
      <div class="numbers">
        ${verdict.means && html`<${Means} means=${verdict.means} names=${NAMES} />`}
        ${verdict.differences && html`<${Differences} differences=${verdict.differences} names=${NAMES} />`}
      </div>
      ${cautions.length > 0 && html`<p class="muted small">${cautions.join(" ")}</p>`}
      ${advice && html`<p class="muted small">${advice.text}</p>`}
    <//>
  `;
}

function Curve({ expert, experts, range, enough }) {
  if (enough.reading) return html`<p class="muted small waiting">Reading the labels …</p>`;
  if (!expert.curve?.length) return html`<p class="muted small">The learned curve appears with the first judgements.</p>`;
  const [first, last] = [expert.curve[0], expert.curve[expert.curve.length - 1]];
  const label = `Learned points of ${expert.name}: ${decimal(first.points)} at rank ${first.rank}, ${decimal(last.points)} at rank ${last.rank}.`;
  return html`
    <figure>
      <figcaption class="muted small">Points a rank gives</figcaption>
      <${SmallCurve} points=${expert.curve} range=${range} colour=${colourOf(experts, expert.name)} label=${label} />
    </figure>
  `;
}

/** Why a number about quality is not there. */
const missing = ({ reading, now, needed }) => (reading ? "reading the labels …" : now >= needed ? "computing …" : "hidden: too few judgements");

function ExpertCard({ expert, experts, queries, range, enough }) {
  return html`
    <li class="card expert-card">
      <h3><${Expert} experts=${experts} name=${expert.name} /></h3>
      <dl class="facts">
        <div><dt>Coverage</dt><dd>${percent(expert.coverage)} <small class="muted">${whole(expert.lists)} of ${count(queries, "query", "queries")}</small></dd></div>
        <div><dt>Mean length</dt><dd>${decimal(expert.mean_length, 1)} <small class="muted">items</small></dd></div>
        <div><dt>Agreement</dt><dd>${decimal(expert.agreement, 2)} <small class="muted">with the others</small></dd></div>
        <div><dt>Quality alone</dt><dd>${expert.quality ? html`<${Estimate} value=${expert.quality} />` : html`<small class="muted">${missing(enough)}</small>`}</dd></div>
      </dl>
      <${Curve} expert=${expert} experts=${experts} range=${range} enough=${enough} />
    </li>
  `;
}

function Curves({ data, enough }) {
  if (enough.reading) return html`<p class="muted waiting">Reading the labels …</p>`;
  if (data.learning_curve?.length > 1) return html`<${LearningCurve} points=${data.learning_curve} />`;
  if (enough.now < enough.needed) return html`<p class="muted">Hidden until enough is judged. ${enough.text}</p>`;
  if (data.working?.length) return html`<p class="muted waiting">Computing …</p>`;
  if (data.verdict?.labels === "positives only") return html`<p class="muted">Labels of relevant items only show no gain.</p>`;
  return html`<p class="muted">More judgements are needed for a curve.</p>`;
}

export function Overview({ state, version }) {
  const answer = useAnswer(address("/overview"), version);
  const data = answer.data;
  if (!data) return html`<${Heading}>Overview<//><${Waiting} answer=${answer} what="the overview" />`;
  const points = data.experts.flatMap((expert) => (expert.curve || []).map((point) => point.points));
  const range = [Math.min(0, ...points), Math.max(1e-9, ...points)];
  return html`
    <${Heading}>Overview<//>
    <${Verdict} verdict=${data.verdict} advice=${data.advice} enough=${data.enough} queries=${state.queries} />
    <h2>Experts</h2>
    <ul class="experts">
      ${data.experts.map((expert) => html`<${ExpertCard} key=${expert.name} expert=${expert} experts=${state.experts} queries=${state.queries} range=${range} enough=${data.enough} />`)}
    </ul>
    <div class="columns">
      <${Card} title="Redundancy" note="How alike the lists of two experts are. Two experts that are nearly the same count as one.">
        ${data.redundancy ? html`<${Matrix} ...${data.redundancy} />` : html`<p class="muted waiting">Computing …</p>`}
      <//>
      <${Card} title="Learning curve" note="Held-out gain over RRF as judgements grow; the band is the 95 % interval.">
        <${Curves} data=${data} enough=${data.enough} />
      <//>
    </div>
  `;
}
