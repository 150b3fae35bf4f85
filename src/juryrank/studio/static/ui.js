// Small parts that several views use. Names are always text, in <bdi>, so that their direction stays their own.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact-htm.js";
import { count, decimal, isNumber } from "./format.js";
import { address, download } from "./api.js";
import { say } from "./store.js";

export const COLOURS = 12; // classes c0 to c11 of the style sheet

export const colourOf = (experts, name) => `c${Math.max(0, experts.indexOf(name)) % COLOURS}`;

export const Name = ({ text }) => html`<bdi class="name" title=${text}>${text}</bdi>`;

export const Expert = ({ experts, name }) =>
  html`<span class="expert ${colourOf(experts, name)}"><span class="dot" aria-hidden="true"></span><${Name} text=${name} /></span>`;

export const queryAddress = (id) => `#/query/${encodeURIComponent(id)}`;

/** A query by its text, if it has one, and its id. */
export const QueryName = ({ id, text }) =>
  text
    ? html`<span class="query-name"><${Name} text=${text} /> <small class="muted"><${Name} text=${id} /></small></span>`
    : html`<span class="query-name"><${Name} text=${id} /></span>`;

export const Heading = ({ children }) => html`<h1 id="heading" tabindex="-1">${children}</h1>`;

export const Card = ({ title, children, note, className = "" }) => html`
  <section class="card ${className}">
    ${title && html`<h2>${title}</h2>`} ${note && html`<p class="muted note">${note}</p>`} ${children}
  </section>
`;

/** What is shown instead of an answer: an error, or that it is being computed. */
export function Waiting({ answer, what }) {
  if (answer.error) return html`<p class="problem" role="alert">${answer.error.message}</p>`;
  return html`<p class="muted waiting">${answer.pending ? `Computing ${what} …` : `Loading ${what} …`}</p>`;
}

export function Progress({ value, of, label }) {
  const share = of > 0 ? Math.min(1, value / of) : 0;
  return html`
    <div class="progress" role="progressbar" aria-label=${label} aria-valuemin="0" aria-valuemax=${of} aria-valuenow=${Math.min(value, of)}>
      <span style=${{ width: `${100 * share}%` }}></span>
    </div>
  `;
}

/** Why there are no numbers yet, and what is missing. */
export function NotEnough({ enough, queries }) {
  if (enough.reading) return html`<p class="muted waiting">Reading the labels …</p>`;
  const missing = Math.max(0, enough.needed - enough.now);
  return html`
    <div class="not-enough">
      <p class="choice">${missing && queries >= enough.needed ? `${count(missing, "more query", "more queries")} with a relevant item until there are numbers` : "No numbers yet"}</p>
      <${Progress} value=${enough.now} of=${enough.needed} label="Queries that count" />
      <p class="muted">${enough.text}</p>
      <p><a class="button" href="#/judge">Judge some results</a></p>
    </div>
  `;
}

export const Estimate = ({ value, digits = 3 }) =>
  value && isNumber(value.mean)
    ? html`<span class="estimate">${decimal(value.mean, digits)} <small class="muted">${decimal(value.low, digits)} to ${decimal(value.high, digits)}</small></span>`
    : html`<span class="muted">–</span>`;

/** A link that saves a file. */
export function FileLink({ url, label, children, className = "" }) {
  const save = async (event) => {
    event.preventDefault();
    try {
      say(`${await download(url)} is saved.`);
    } catch (error) {
      say(`Cannot download: ${error.message}`);
    }
  };
  return html`<a class="button ${className}" href=${url} aria-label=${label} onClick=${save}>${children}</a>`;
}

/** The labels as files; names with blanks need the table. */
export const Labels = () => html`
  <${FileLink} className="quiet" url=${address("/export/qrels")}>Qrels<//>
  <${FileLink} className="quiet" url=${address("/export/qrels", { format: "csv" })}>CSV<//>
`;

/** Copies what `read` gives, now or as a promise. */
export function CopyButton({ read, label, disabled }) {
  const [done, setDone] = useState(false);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await read());
      say(`${label} is in the clipboard.`);
      setDone(true);
      timer.current = setTimeout(() => setDone(false), 2000);
    } catch (error) {
      say(`Cannot copy: ${error.message}`);
    }
  };
  return html`
    <button type="button" class="quiet" disabled=${disabled} onClick=${copy} aria-label=${`Copy ${label}`}>
      ${done ? "Copied" : "Copy"}
    </button>
  `;
}

/** The width of an element in pixels, as it changes. */
export function useWidth(fallback = 600) {
  const element = useRef(null);
  const [width, setWidth] = useState(fallback);
  useLayoutEffect(() => {
    const look = () => setWidth(Math.max(120, Math.floor(element.current.clientWidth)));
    const watcher = new ResizeObserver(look);
    look(); // before the first frame
    watcher.observe(element.current);
    return () => watcher.disconnect();
  }, []);
  return [element, width];
}
