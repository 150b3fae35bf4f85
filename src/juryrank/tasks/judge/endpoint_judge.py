"""A model as judge: questions of a session, asked several at a time, with an estimate of the cost before."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from juryrank.errors import EndpointError
from juryrank.tasks.judge.endpoint import QUOTED, Endpoint, LimitReachedError, RequestRefusedError
from juryrank.tasks.judge.endpoint_cache import AnswerCache, request_key
from juryrank.tasks.judge.endpoint_prompt import AGAIN, Prompt, grade_in
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.judgements import SKIPPED, Judgement
from juryrank.tasks.judge.session import Key, Question, Session
from juryrank.tasks.judge.texts import Texts

SETTINGS = {"temperature": 0, "max_tokens": 1024}
BYTES_PER_TOKEN = 4  # about, in English
ANSWER_TOKENS = 12  # of {"grade": 2}
LONG_ANSWER_TOKENS = 1024  # of a model that thinks
REQUESTS_PER_ITEM = 2  # an unreadable answer is asked for once more
FEWEST_REQUESTS = 20  # of the default limit, so that a few retries are possible with a small budget
UNREADABLE_IN_A_ROW = 10  # after which the next answers are not worth their price
GRADED, UNREADABLE, REFUSED, NO_TEXT = "graded", "unreadable", "refused", "without text"


@dataclass(frozen=True)
class Outcome:
    """What became of a question; the grade is None if the item stays unjudged."""

    question: Question
    grade: int | None
    kind: str
    from_cache: bool = False
    tokens_in: int = 0
    tokens_out: int = 0
    answer: str = field(default="", compare=False)  # or the reason why there is none

    @property
    def n_unreadable(self) -> int:
        """Answers without a grade."""
        return {UNREADABLE: REQUESTS_PER_ITEM, REFUSED: 1}.get(self.kind, 0)


@dataclass(frozen=True)
class Estimate:
    """What is about to be asked."""

    calls: int
    tokens_in: int
    tokens_out: int
    cached: bool  # whether some of the next answers are in the cache, so that the cost is lower
    max_requests: int  # after which it stops
    max_tokens: int

    def cost(self, price: tuple[float, float]) -> float:
        """In the currency of the price, which is per million tokens of prompts and of answers."""
        return cost_of(self.tokens_in, self.tokens_out, price)


def cost_of(tokens_in: int, tokens_out: int, price: tuple[float, float]) -> float:
    """The cost of tokens of prompts and of answers, by the prices of a million of each."""
    return (tokens_in * price[0] + tokens_out * price[1]) / 1e6


@dataclass
class ModelJudge:
    """A model behind an endpoint. Answers are cached; one that has no readable grade is asked for once more."""

    endpoint: Endpoint
    model: str
    prompt: Prompt
    grades: Grades
    cache: AnswerCache
    items: Texts | None = None
    queries: Texts | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the request; None removes a default
    max_requests: int | None = None  # by default two for each item of the budget, and at least 20
    max_tokens: int | None = None  # by default those of so many requests with long answers
    retry: bool = False  # ask again where the known answer cannot be read

    def text_of(self, question: Question | Judgement) -> str | None:
        """The text of the item; its name if the prompt has no place for a text, None if it has no text."""
        found = None if self.items is None else self.items.get(question.item)
        return found if self.prompt.needs_text else question.item

    def prompt_of(self, question: Question | Judgement) -> str | None:
        """The whole prompt; None if the item has no text."""
        if (text := self.text_of(question)) is None:
            return None
        query = (None if self.queries is None else self.queries.get(question.query)) or question.query
        return self.prompt.fill(self.grades, query=query, item=question.item, text=text)

    def request(self, prompt: str) -> dict[str, Any]:
        """The body of the request for a prompt."""
        settings = {name: value for name, value in {**SETTINGS, **self.settings}.items() if value is not None}
        return {"model": self.model, "messages": [{"role": "user", "content": prompt}], **settings}

    def skip_note(self, outcome: Outcome) -> str:
        """What is saved of an item that gets no grade: why, and after which request."""
        prompt = self.prompt_of(outcome.question)
        asked = "" if prompt is None else f" {self._short_key(prompt)}"
        return f"{SKIPPED}: {outcome.kind}{asked}"

    def to_ask_again(self, skipped: Iterable[Judgement]) -> list[Key]:
        """Those skipped items about which the request would be another one by now; with ``retry``, all with a text."""
        prompts = [(each, self.prompt_of(each)) for each in skipped]
        return [
            each.key
            for each, prompt in prompts
            if prompt is not None and (self.retry or not each.note.endswith(f" {self._short_key(prompt)}"))
        ]

    def _short_key(self, prompt: str) -> str:
        return request_key(self.request(prompt))[:12]

    def ask(self, question: Question) -> Outcome:
        """Ask for the grade of an item."""
        if (prompt := self.prompt_of(question)) is None:
            return Outcome(question, None, NO_TEXT)
        body, tokens_in, tokens_out, cached = self.request(prompt), 0, 0, True
        try:
            for _ in range(REQUESTS_PER_ITEM):
                answer = self.cache.get(body)
                if answer is None or (self.retry and grade_in(answer, self.grades) is None):
                    reply = self.endpoint.ask(body)
                    answer, cached = reply.text, False
                    tokens_in, tokens_out = tokens_in + reply.tokens_in, tokens_out + reply.tokens_out
                    self.cache.put(body, answer)
                if (grade := grade_in(answer, self.grades)) is not None:
                    return Outcome(question, grade, GRADED, cached, tokens_in, tokens_out, answer)
                more = [{"role": "assistant", "content": answer}, {"role": "user", "content": AGAIN}]
                body = {**body, "messages": [*body["messages"], *more]}
        except RequestRefusedError as error:
            return Outcome(question, None, REFUSED, False, tokens_in, tokens_out, str(error))
        return Outcome(question, None, UNREADABLE, cached, tokens_in, tokens_out, answer or "")

    def why_unreadable(self, outcome: Outcome) -> str:
        """What was answered, as far as it can be quoted in a line, and what may help."""
        if outcome.kind == REFUSED:
            return f"the last request was refused: {outcome.answer}"
        if not outcome.answer.strip():
            more = "its thoughts may have used up max_tokens: give more with --settings '{\"max_tokens\": 4096}'"
            return f"the last answer is empty; {more}"
        told = " ".join(self.endpoint.hide(outcome.answer).split())
        return f"the last answer is {told[:QUOTED]!r}; change --prompt, --settings or --model"

    def estimate(self, session: Session) -> Estimate:
        """The calls up to the budget, and their tokens as far as the next prompts tell."""
        prompts = [prompt for each in session.ahead(session.batch) if (prompt := self.prompt_of(each)) is not None]
        calls = session.budget - session.n_graded if prompts else 0
        size = sum(len(prompt.encode()) for prompt in prompts) / max(len(prompts), 1)
        cached = any(self.cache.get(self.request(prompt)) is not None for prompt in prompts)
        requests = self.max_requests or max(REQUESTS_PER_ITEM * calls, FEWEST_REQUESTS)
        longest = self.settings.get("max_tokens") or self.settings.get("max_completion_tokens")
        answer = longest if isinstance(longest, int) else LONG_ANSWER_TOKENS
        tokens = self.max_tokens or math.ceil(requests * (size / BYTES_PER_TOKEN + answer))
        size_in = round(calls * size / BYTES_PER_TOKEN)
        return Estimate(calls, size_in, calls * ANSWER_TOKENS, cached, requests, tokens)


@dataclass
class Tally:
    """Outcomes, counted."""

    kinds: Counter[str] = field(default_factory=Counter)
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, outcome: Outcome) -> None:
        self.kinds[outcome.kind] += 1
        self.cached += outcome.from_cache
        self.tokens_in += outcome.tokens_in
        self.tokens_out += outcome.tokens_out


def judge_items(session: Session, judge: ModelJudge, *, parallel: int = 4) -> Iterator[Outcome]:
    """Ask up to the budget of the session, ``parallel`` questions at a time; each outcome is saved when it is given.

    Items are saved in the order of the questions. Those that get no grade are saved as skipped, never with a guess; an
    EndpointError ends this after ten unreadable answers in a row, or at the limit of requests or tokens.
    """
    limits = judge.estimate(session)
    judge.endpoint.max_requests, judge.endpoint.max_tokens = limits.max_requests, limits.max_tokens
    unreadable = 0
    with ThreadPoolExecutor(parallel) as pool:
        try:
            while questions := session.ahead(session.batch):
                for outcome in _in_order(pool, judge, questions, ahead=2 * parallel):
                    if outcome.grade is None:
                        session.skip(outcome.question, judge.skip_note(outcome))
                    else:
                        session.grade(outcome.question, outcome.grade)
                    yield outcome
                    unreadable = 0 if outcome.kind == GRADED else unreadable + outcome.n_unreadable
                    if unreadable >= UNREADABLE_IN_A_ROW:
                        told = judge.why_unreadable(outcome)
                        again = "after a fault of the endpoint, --retry asks about these items again"
                        raise EndpointError(f"stopped: {unreadable} answers in a row have no grade; {told}; {again}")
        except BaseException:
            judge.endpoint.stop()  # the pool waits for requests that are under way, but not for their retries
            raise


def _in_order(pool: ThreadPoolExecutor, judge: ModelJudge, questions: list[Question], ahead: int) -> Iterator[Outcome]:
    """The outcomes in the order of the questions, few of which are asked ahead of those that are saved.

    An error of any of them comes at once, but a limit only at its place: what was answered before is saved.
    """
    rest, waiting = iter(questions), deque[Future[Outcome]]()
    while True:
        waiting.extend(pool.submit(judge.ask, question) for question in islice(rest, ahead - len(waiting)))
        if not waiting:
            return
        pending = set(waiting)
        while not waiting[0].done():
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for each in done:
                if not isinstance(each.exception(), LimitReachedError):
                    each.result()
        yield waiting.popleft().result()
