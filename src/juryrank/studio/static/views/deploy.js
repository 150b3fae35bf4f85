// Everything the model can become: files for other systems, with what each one loses, and the service.

import { html } from "../vendor/preact-htm.js";
import { address, text, useAnswer } from "../api.js";
import { decimal, isNumber } from "../format.js";
import { Card, CopyButton, FileLink, Heading, Labels, Waiting } from "../ui.js";

function lossText(loss) {
  if (!loss) return null;
  if (loss.text) return loss.text;
  const values = Object.entries(loss).filter(([, value]) => value !== null && typeof value !== "object");
  return values.map(([name, value]) => `${name}: ${isNumber(value) && !Number.isInteger(value) ? decimal(value) : value}`).join(" · ");
}

function Target({ target }) {
  const url = address("/deploy/file", { target: target.name });
  const loss = lossText(target.loss);
  return html`
    <li class="card target">
      <div>
        <h3>${target.title || target.name} <span class="badge ${target.exact ? "exact" : "nearest"}">${target.exact ? "exact" : "approximation"}</span></h3>
        ${target.description && html`<p>${target.description}</p>`}
        <p class="muted small">${!target.available ? target.reason || "Not available." : loss || (target.exact ? "No loss: the same scores as the model." : "The loss is measured once enough queries are judged.")}</p>
      </div>
      <div class="row">
        ${target.available
          ? html`<${FileLink} className="quiet" url=${url} label=${`Download ${target.title || target.name}`}>Download<//>`
          : html`<button type="button" class="quiet" disabled aria-label=${`Download ${target.title || target.name}`}>Download</button>`}
        <${CopyButton} label=${target.title || target.name} disabled=${!target.available} read=${() => text(url)} />
      </div>
    </li>
  `;
}

export function Deploy({ state, version }) {
  const answer = useAnswer(address("/deploy"), version);
  const data = answer.data;
  if (!data) return html`<${Heading}>Deploy<//><${Waiting} answer=${answer} what="the targets" />`;
  const any = data.targets.some((target) => target.available);
  return html`
    <${Heading}>Deploy<//>
    ${!any && html`<p class="muted">There is no model yet. <a href="#/judge">Judge some results</a> first.</p>`}
    ${any && data.note && html`<p class="muted">${data.note}</p>`}
    <div class="columns deploy-top">
      <${Card} title="The model and the judgements" note="For juryrank itself, and for any tool that reads qrels.">
        <p class="row">
          ${any ? html`<${FileLink} url=${address("/export/model")}>model.json<//>` : html`<button type="button" disabled>model.json</button>`}
          ${state.labelled_queries > 0 ? html`<${Labels} />` : html`<button type="button" class="quiet" disabled>Qrels</button>`}
        </p>
      <//>
      ${data.curl && html`<${Card} title="The service" note="Fusion over HTTP with this model.">
        <div class="command"><pre tabindex="0" aria-label="Commands of the service">${data.curl}</pre><${CopyButton} label="the commands" read=${() => data.curl} /></div>
      <//>`}
    </div>
    <h2>Other systems</h2>
    <ul class="targets">${data.targets.filter(({ name }) => name !== "model").map((target) => html`<${Target} key=${target.name} target=${target} />`)}</ul>
  `;
}
