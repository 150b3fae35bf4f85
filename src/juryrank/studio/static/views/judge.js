// One result after the other gets a grade; every answer is on disk before the next question is shown.

import { html, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact-htm.js";
import { address, post, useAnswer } from "../api.js";
import { capitalised, count, isNumber, milliseconds, percent } from "../format.js";
import { useKeys } from "../keys.js";
import { judgeName, say, takeState } from "../store.js";
import { Card, Expert, Heading, Labels, Name, Progress, Waiting, colourOf } from "../ui.js";

const LONG = 900; // characters of a text that are shown at first

function Question({ question, all, onMore }) {
  const text = question.text || "";
  const isLong = text.length > LONG;
  return html`
    <article class="question" aria-label="Result to judge">
      <p class="muted small">Query <${Name} text=${question.query} /> · ${question.number}${question.budget ? ` of ${question.budget}` : ""}</p>
      <h2 class="query-text"><bdi>${question.query_text || question.query}</bdi></h2>
      <div class="result">
        <h3><bdi>${question.title || question.item}</bdi></h3>
        ${question.title && html`<p class="muted small"><${Name} text=${question.item} /></p>`}
        ${text
          ? html`<p class="text"><bdi>${isLong && !all ? `${text.slice(0, LONG)}…` : text}</bdi></p>`
          : html`<p class="muted">There is no text of this item. Texts are given with <code>--texts</code>.</p>`}
        ${isLong && html`<button type="button" class="quiet" onClick=${onMore}>${all ? "Show less" : "Show more"} <kbd>m</kbd></button>`}
      </div>
    </article>
  `;
}

function Answers({ grades, busy, onGrade, onSkip, onUndo, canGrade }) {
  return html`
    <div class="grades" role="group" aria-label="Grade">
      ${grades.map((grade) => html`<button key=${grade.value} type="button" class="grade" disabled=${!canGrade} aria-disabled=${busy} onClick=${() => onGrade(grade)}>
        <kbd>${grade.value}</kbd><span>${nameOf(grade)}</span>
      </button>`)}
    </div>
    <div class="row">
      <button type="button" class="quiet" disabled=${!canGrade} onClick=${onSkip}>Skip <kbd>s</kbd></button>
      <button type="button" class="quiet" onClick=${onUndo}>Undo <kbd>u</kbd></button>
    </div>
  `;
}

const USUAL = { 0: "not relevant", 1: "slightly", 2: "relevant", 3: "perfectly" };
const nameOf = (grade) => (grade.name && grade.name !== String(grade.value) ? grade.name : USUAL[grade.value] || "");

/** The name of the judge, which this browser remembers. */
function JudgeName({ judge }) {
  const change = (event) => {
    const name = event.target.value.trim();
    if (name && name !== judge) judgeName.set(name);
    event.target.value = name || judge;
  };
  const onKey = (event) => event.key === "Enter" && event.target.blur();
  return html`
    <label class="field">You judge as
      <input type="text" value=${judge} maxlength="100" autocomplete="off" spellcheck="false" onChange=${change} onKeyDown=${onKey} />
    </label>
  `;
}

function JudgesCard({ progress, judge }) {
  const judges = Object.entries(progress.judges || {}).sort((a, b) => b[1] - a[1]);
  return html`
    <${Card} title="Judges">
      <${JudgeName} judge=${judge} />
      ${judges.length > 0 && html`<dl class="facts">${judges.map(([name, n]) => html`<div key=${name}><dt><${Name} text=${name} /></dt><dd>${count(n, "grade")}</dd></div>`)}</dl>`}
      ${progress.agreement && html`<p class="muted small">${progress.agreement.text}</p>`}
      ${progress.skipped > 0 && html`<p class="muted small">${count(progress.skipped, "item")} skipped.</p>`}
    <//>
  `;
}

/** What the first rank of each expert gives, as shares. */
function Trust({ curves, experts, version, onDrawn }) {
  const given = curves.map(({ name, curve }) => [name, Math.max(0, curve[0].points)]).sort((a, b) => b[1] - a[1]);
  const sum = given.reduce((all, [, points]) => all + points, 0) || 1;
  const top = given[0]?.[1] || 1;
  useLayoutEffect(onDrawn, [version]);
  return html`
    <h3 class="small muted">Whom it trusts: share of the points of first ranks</h3>
    <ul class="trust" data-version=${version}>
      ${given.map(([name, points]) => html`<li key=${name} class=${colourOf(experts, name)}>
        <${Expert} experts=${experts} name=${name} /><span class="bar"><span style=${{ width: `${(100 * points) / top}%` }}></span></span><span class="number">${percent(points / sum)}</span>
      </li>`)}
    </ul>
  `;
}

function LearnedCard({ state, version, refit, onDrawn }) {
  const { now, needed, text, reading } = state.enough;
  const isEnough = now >= needed;
  const { data } = useAnswer(isEnough ? address("/overview") : null, version);
  const curves = data?.experts.filter(({ curve }) => curve?.length) || [];
  return html`
    <${Card} title="What the model knows">
      ${!reading && html`<${Progress} value=${now} of=${needed} label="Queries that count" />`}
      <p class="muted small">${text}</p>
      ${isEnough && curves.length > 0 && html`<${Trust} curves=${curves} experts=${state.experts} version=${data.version} onDrawn=${onDrawn} />`}
      ${refit && isNumber(refit.milliseconds) && html`<p class="muted small" id="refit">Model refitted in ${milliseconds(refit.milliseconds)}.</p>`}
      ${isEnough && data?.verdict && html`<p class="small">${capitalised(data.verdict.headline)}. <a href="#/overview">See the verdict</a></p>`}
    <//>
  `;
}

/** Marks the time from an answer until what follows from it is drawn. */
function measure(name, start) {
  requestAnimationFrame(() => setTimeout(() => performance.measure(name, { start }))); // after the frame is drawn
}

/** Questions and answers of one judge: what is shown, and the actions on it. */
function useJudging(judge, version) {
  const shown = useRef(null);
  const kept = useMemo(() => shown.current, [judge, version]); // nobody's question changes while they read it
  const url = address("/judge/next", { judge, query: kept?.query, item: kept?.item });
  const [own, setOwn] = useState(null); // from the last answer of this tab
  const isOwn = own?.judge === judge && own.version === version; // nobody else has judged since
  const answer = useAnswer(isOwn ? null : url, version);
  const [busy, setBusy] = useState(false);
  const working = useRef(false);
  const started = useRef(null);
  const learning = useRef(null);
  useLayoutEffect(() => {
    working.current = busy; // a key counts again when the next question is drawn, never for the last one
    if (started.current === null || busy) return;
    const start = started.current;
    started.current = null;
    learning.current = start;
    measure("judge to next question", start);
  });
  const send = async (path, body, tell) => {
    if (working.current) return;
    working.current = true;
    const start = performance.now();
    setBusy(true);
    try {
      const found = await post(path, { judge, ...body });
      started.current = start;
      setOwn((old) => ({ judge, version: found.state.version, next: found.next, refit: found.refit ?? old?.refit }));
      takeState(found.state, { tell: true });
      say(tell(found));
    } catch (error) {
      say(`Not saved: ${error.message}`);
    } finally {
      setBusy(false);
    }
  };
  const asked = answer.data?.judge === judge ? answer.data : null;
  const older = own?.judge === judge ? own.next : asked; // until the answer for this version is there
  const next = isOwn ? own.next : asked && answer.version === version ? asked : older;
  shown.current = next?.question ?? null;
  const onDrawn = () => {
    if (learning.current !== null) measure("judge to redrawn model", learning.current);
    learning.current = null;
  };
  return { answer, next, refit: own?.refit, busy, send, onDrawn };
}

/** What a screen reader hears after an answer. */
function nextUp(next) {
  const { question } = next;
  return question ? ` Next: ${question.title || question.item}, for ${question.query_text || question.query}.` : " Nothing is left to judge.";
}

function Done({ progress }) {
  return html`
    <div class="question">
      <h2>Nothing is left to judge</h2>
      <p>${count(progress.graded, "grade")} given. See the <a href="#/overview">verdict</a>, <a href="#/compare">compare</a> methods, or <a href="#/deploy">deploy</a> the model.</p>
    </div>
  `;
}

export function Judge({ state, version, judge }) {
  const { answer, next, refit, busy, send, onDrawn } = useJudging(judge, version);
  const [all, setAll] = useState(false);
  const question = next?.question;
  const key = question && JSON.stringify([question.query, question.item]);
  useLayoutEffect(() => setAll(false), [key]); // at once: else a key just after it would be undone
  const here = question && { query: question.query, item: question.item };
  const grade = ({ value }) => here && send("/judge", { ...here, grade: value }, (found) => `Saved: grade ${value}.${nextUp(found.next)}`);
  const skip = () => here && send("/judge", { ...here, skip: true }, (found) => `Skipped.${nextUp(found.next)}`);
  const undo = () =>
    send("/judge/undo", {}, (found) => (found.undone ? `Taken back: ${found.undone.item}. It is asked again.` : "There is nothing to take back."));
  useKeys((pressed) => {
    const chosen = state.grades.find(({ value }) => String(value) === pressed);
    const actions = { u: undo, s: skip, m: () => setAll((shown) => !shown) };
    const action = chosen ? () => grade(chosen) : Object.hasOwn(actions, pressed) && actions[pressed];
    if (action) action();
    return Boolean(action);
  });
  if (!next) return html`<${Heading}>Judge<//><${Waiting} answer=${answer} what="the next result" />`;
  return html`
    <${Heading}>Judge<//>
    <div class="judge">
      <div class="card desk" data-busy=${busy ? "true" : "false"}>
        ${question ? html`<${Question} question=${question} all=${all} onMore=${() => setAll(!all)} />` : html`<${Done} progress=${next.progress} />`}
        <${Answers} grades=${state.grades} busy=${busy} canGrade=${Boolean(question)} onGrade=${grade} onSkip=${skip} onUndo=${undo} />
        ${question?.budget && html`<${Progress} value=${next.progress.graded} of=${question.budget} label="Grades of this judge" />`}
      </div>
      <aside aria-label="Progress">
        <${JudgesCard} progress=${next.progress} judge=${judge} />
        <${LearnedCard} state=${state} version=${version} refit=${refit} onDrawn=${onDrawn} />
        <${Card} title="The grades">
          <p class="muted small">${count(state.judgements, "grade")}${state.judgements_file ? html` in <code><bdi>${state.judgements_file}</bdi></code>` : ""}; each is on disk before the next question.</p>
          <p class="row">${state.labelled_queries > 0 && html`<${Labels} />`}</p>
        <//>
      </aside>
    </div>
  `;
}
