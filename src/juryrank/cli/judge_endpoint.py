"""``juryrank judge --endpoint``: a model behind a chat completions endpoint grades the items."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli.interrupts import deliver_once
from juryrank.cli.terminal import bars, note
from juryrank.errors import EndpointError
from juryrank.report.table import counted

if TYPE_CHECKING:
    from juryrank.tasks.judge.endpoint_judge import Estimate, ModelJudge, Tally
    from juryrank.tasks.judge.session import Session
    from juryrank.tasks.judge.texts import Texts


@dataclass(frozen=True)
class EndpointOptions:
    """A model that judges."""

    endpoint: Annotated[
        str | None,
        typer.Option("--endpoint", metavar="URL", help="Let a model grade: chat completions, as OpenAI serves them."),
    ] = None
    model: Annotated[str | None, typer.Option("--model", help="Name of the model; also that of the judge.")] = None
    prompt: Annotated[
        Path | None, typer.Option("--prompt", help="The prompt, with {query}, {text}, {item} and {grades}.")
    ] = None
    parallel: Annotated[int, typer.Option("--parallel", min=1, max=64, help="Requests at a time.")] = 4
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds to wait for an answer.")] = 60.0
    cache: Annotated[
        Path | None, typer.Option("--cache", help="Answers so far, as JSON lines; default: beside the judgements.")
    ] = None
    price: Annotated[
        str | None,
        typer.Option("--price", metavar="IN,OUT", help="Price of a million tokens of prompts and of answers."),
    ] = None
    max_requests: Annotated[
        int | None,
        typer.Option("--max-requests", min=1, help="Requests, with retries, to stop after; default: two per item."),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-total-tokens", min=1, help="Tokens to stop after, if counted; default: by the estimate."),
    ] = None
    retry: Annotated[
        bool, typer.Option("--retry", help="Ask again about items whose answers could not be read, with this prompt.")
    ] = False
    settings: Annotated[
        str, typer.Option("--settings", metavar="JSON", help='More of the request: {"max_tokens": 2048}.')
    ] = "{}"
    max_characters: Annotated[
        int, typer.Option("--max-characters", min=1, help="Length at which the text of an item is cut.")
    ] = 20_000
    insecure: Annotated[bool, typer.Option("--insecure", help="Allow http to other machines.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show a prompt and the estimate, and stop.")] = False
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the first request.")] = False

    @property
    def is_used(self) -> bool:
        """Whether a model is to judge; an error if only one of endpoint and model is given."""
        if (self.endpoint is None) != (self.model is None):
            raise typer.BadParameter("--endpoint and --model belong together")
        return self.endpoint is not None

    def judge(self, session: Session, judgements: Path, items: Texts | None, queries: Texts | None) -> ModelJudge:
        """The model as judge."""
        from juryrank.tasks.judge.endpoint import Endpoint
        from juryrank.tasks.judge.endpoint_cache import AnswerCache
        from juryrank.tasks.judge.endpoint_judge import ModelJudge
        from juryrank.tasks.judge.endpoint_prompt import Prompt

        endpoint = Endpoint(self.endpoint or "", insecure=self.insecure, timeout=self.timeout)
        prompt = Prompt.read(self.prompt, self.max_characters)
        if prompt.needs_text and items is None:
            raise typer.BadParameter("a model needs the texts of the items: --texts FILE", param_hint="--texts")
        cache = AnswerCache(self.cache or judgements.with_suffix(".cache.jsonl"))
        return ModelJudge(
            endpoint, self.model or "", prompt, session.grades, cache, items, queries, parse_settings(self.settings),
            max_requests=self.max_requests, max_tokens=self.max_tokens, retry=self.retry,
        )  # fmt: skip


def judge_by_model(session: Session, judge: ModelJudge, given: EndpointOptions, *, quiet: bool) -> None:
    """Show the estimate, ask whether to go on, and let the model grade."""
    from juryrank.tasks.judge.endpoint_judge import GRADED, Tally, judge_items

    price = parse_price(given.price)
    again = judge.to_ask_again(session.skipped)
    session.ask_again(again)
    estimate = judge.estimate(session)
    if given.dry_run:
        question = session.next()
        print(judge.prompt_of(question) if question is not None else "", end="")
    if again and estimate.calls:
        note(f"{counted(len(again), 'item')} that the model has skipped may be asked again", quiet=quiet)
    note(estimate_text(estimate, judge, price), quiet=quiet and given.yes)
    if given.dry_run or not estimate.calls or not (given.yes or confirmed()):
        return
    tally = Tally()
    with deliver_once(lambda: note(tally_text(tally, session, judge, price), quiet=quiet)), bars(quiet=quiet) as show:
        bar = iter(show(range(estimate.calls), judge.model))
        try:
            for outcome in judge_items(session, judge, parallel=given.parallel):
                tally.add(outcome)
                if outcome.kind == GRADED:
                    next(bar, None)
        except EndpointError as error:
            saved = f"{tally.kinds[GRADED]} grades are saved in {session.file.path}, and the same command continues"
            raise EndpointError(f"{error}; {saved}; {used_text(tally, judge, price)}") from None
    compare_with_others(session, quiet=quiet)


def confirmed() -> bool:
    """Whether the user agrees; without a terminal, --yes is required."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise typer.BadParameter("requests cost money: check the estimate, and add --yes", param_hint="--endpoint")
    return typer.confirm("Go on?", default=False, err=True)


def estimate_text(estimate: Estimate, judge: ModelJudge, price: tuple[float, float] | None) -> str:
    """What is about to be asked, and what it costs."""
    if not estimate.calls:
        return f"{judge.model}: nothing is left to ask, or no item has a text"
    cost = "" if price is None else f", cost about {money(estimate.cost(price))}"
    less = "; less, because some answers are in the cache" if estimate.cached else ""
    tokens = f"about {estimate.tokens_in:,} tokens of prompts and {estimate.tokens_out:,} of answers"
    limits = f"it stops after {estimate.max_requests:,} requests or {estimate.max_tokens:,} tokens in any case"
    return f"{judge.model} at {judge.endpoint.shown}: up to {estimate.calls} items, {tokens}{cost}{less}; {limits}"


def tally_text(tally: Tally, session: Session, judge: ModelJudge, price: tuple[float, float] | None) -> str:
    """What was asked, and what became of it."""
    from juryrank.tasks.judge.endpoint_judge import GRADED

    others = "".join(f", {count} {kind}" for kind, count in sorted(tally.kinds.items()) if kind != GRADED)
    skipped = f"{others} (left unjudged)" if others else ""
    used = used_text(tally, judge, price)
    return f"{judge.model}: {tally.kinds[GRADED]} items graded{skipped}; {used}; saved in {session.file.path}"


def used_text(tally: Tally, judge: ModelJudge, price: tuple[float, float] | None) -> str:
    """What the answers have cost."""
    from juryrank.tasks.judge.endpoint_judge import cost_of

    cost = "" if price is None else f", cost {money(cost_of(tally.tokens_in, tally.tokens_out, price))}"
    requests = f"{judge.endpoint.n_requests} requests, {tally.cached} answers from the cache"
    return f"{requests}, {tally.tokens_in:,} tokens of prompts and {tally.tokens_out:,} of answers{cost}"


def money(amount: float) -> str:
    """An amount with two decimals, small ones with four."""
    return f"{amount:.2f}" if amount >= 1 else f"{amount:.4f}"


def compare_with_others(session: Session, *, quiet: bool) -> None:
    """How far the model agrees with other judges."""
    from juryrank.tasks.judge.agreement import agreement

    pairs = agreement(session.answers).pairs if session.n_graded else ()
    mine = [pair for pair in pairs if session.judge in (pair.judge, pair.other)]
    for pair in mine:
        note(str(pair), quiet=quiet)
    if session.n_graded and not mine:
        note(
            "No item has been graded by another judge: grade some yourself to see how far it can be trusted.",
            quiet=quiet,
        )


def parse_price(text: str | None) -> tuple[float, float] | None:
    """``"0.15,0.60"`` as prices of a million tokens of prompts and of answers."""
    if text is None:
        return None
    try:
        prices = [float(part) for part in text.split(",")]
    except ValueError:
        prices = []
    if len(prices) not in (1, 2) or not all(0 <= price < float("inf") for price in prices):
        raise typer.BadParameter(f"one or two numbers such as 0.15,0.60 are needed, got {text!r}", param_hint="--price")
    return prices[0], prices[-1]


def parse_settings(text: str) -> dict[str, Any]:
    """More settings of the request; those that make up the question cannot be changed."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or {"model", "messages", "stream"} & found.keys():
        raise typer.BadParameter(
            f"a JSON object without model, messages and stream is needed, got {text!r}", param_hint="--settings"
        )
    return found
