// One item of a query: its text, its ranks, and what each expert adds to its score.

import { html } from "../vendor/preact-htm.js";
import { decimal, isNumber, signed } from "../format.js";
import { Card, Expert, colourOf } from "../ui.js";

export function ItemDetail({ item, experts, grades }) {
  const contributions = item.contributions || {};
  const largest = Math.max(1e-12, ...Object.values(contributions).filter(isNumber).map(Math.abs));
  const grade = grades.find(({ value }) => value === item.label);
  return html`
    <${Card} className="item-detail">
      <h2><bdi>${item.title || item.id}</bdi></h2>
      <p class="muted small">
        ${item.title ? html`<bdi>${item.id}</bdi> · ` : ""}${isNumber(item.rank) ? `rank ${item.rank}` : "further down"}${isNumber(item.score) ? ` · score ${decimal(item.score, 4)}` : ""}
        ${isNumber(item.label) ? ` · label ${item.label}${grade?.name ? ` (${grade.name})` : ""}` : " · not judged"}
      </p>
      ${item.text && html`<p class="text"><bdi>${item.text}</bdi></p>`}
      <table class="plain contributions">
        <thead><tr><th scope="col">Expert</th><th scope="col" class="number">rank</th><th scope="col" class="number">adds</th><th scope="col"><span class="visually-hidden">as a bar</span></th></tr></thead>
        <tbody>
          ${experts.map((name) => html`<tr key=${name}>
            <th scope="row"><${Expert} experts=${experts} name=${name} /></th>
            <td class="number">${item.ranks[name] ?? "–"}</td>
            <td class="number">${isNumber(contributions[name]) ? signed(contributions[name], 4) : "–"}</td>
            <td><span class=${`bar ${colourOf(experts, name)}${contributions[name] < 0 ? " negative" : ""}`}><span style=${{ width: `${(100 * Math.abs(contributions[name] || 0)) / largest}%` }}></span></span></td>
          </tr>`)}
        </tbody>
      </table>
    <//>
  `;
}
