"""``election``: the ballots of one query counted by several rules."""

from __future__ import annotations

import numpy as np

from juryrank.data import Dataset, Rankings, as_dataset
from juryrank.data.ties import TieBreak, split_rule
from juryrank.errors import DataError, ParameterError
from juryrank.evaluation.method_specs import Methods, methods_by_label
from juryrank.methods import CLASSES, Aggregator
from juryrank.params import parameters
from juryrank.tasks.election.pairs import count_pairs
from juryrank.tasks.election.result import Election
from juryrank.tasks.election.rule_result import RuleResult

RULES = ("plurality", "irv", "borda", "copeland", "minimax", "schulze", "ranked-pairs")  # by default, for one seat
SHOWN = 5  # names of queries in a message


def election(
    data: Dataset | Rankings,
    rules: Methods | None = None,
    *,
    seats: int | None = None,
    tie_break: TieBreak = "none",
    seed: int = 0,
) -> Election:
    """The winners of one election by several rules, with rounds, pairwise majorities and ties told.

    ``data`` has one query; voters are its experts. ``rules`` are names (``stv:decimals=5`` has a parameter) or methods;
    by default the usual ones, and ``stv`` for more than one of ``seats``: those that the file states, as BLT does, or
    one. ``tie_break`` is ``none`` (ties are told), ``name``, ``random`` (drawn with ``seed``), or candidates in the
    order in which ties go to them.

    >>> from juryrank import from_orders
    >>> result = election(from_orders([["A", "B", "C"], ["B", "A", "C"]], weights=[5, 5]), ["borda", "copeland"])
    >>> print(result.summary())
    borda: A and B tie
    copeland: A and B tie
    There is no Condorcet winner: nobody beats A and B in pairs (weak Condorcet winners); A and B tie 5 to 5.
    Both rules: A and B tie.
    """
    data = as_dataset(data)
    r = _one_query(data.rankings)
    if seats is None:
        seats = data.seats.get(r.queries[0], 1)
    _check_seats(seats, r)
    split_rule(tie_break)
    chosen = methods_by_label(_default(seats) if rules is None else rules)
    for rule in chosen.values():
        _set_options(rule, seats, tie_break, seed)
    counted = {label: rule.fit(r).predict(r) for label, rule in chosen.items()}
    results = tuple(RuleResult.of(label, consensus, tie_break, seed) for label, consensus in counted.items())
    weights = np.where(r.list_weight > 0, r.list_weight, 0.0)
    return Election(results=results, pairs=count_pairs(r, weights), ballots=float(weights.sum()), seats=seats)


def _default(seats: int) -> list[str]:
    return [name for name in (RULES if seats == 1 else ("stv",)) if name in CLASSES]


def _one_query(r: Rankings) -> Rankings:
    if len(r) != 1:
        names = ", ".join(map(repr, r.queries[:SHOWN])) + (" …" if len(r) > SHOWN else "")
        raise DataError(
            f"an election is one query, and the data has {len(r)} ({names}); choose one: data['NAME'], or count all: "
            "elections(data)"
        )
    if not r.n_lists:
        raise DataError("an election needs ballots; the data has none")
    return r


def _check_seats(seats: int, r: Rankings) -> None:
    if isinstance(seats, bool) or not isinstance(seats, int) or seats < 1:
        raise ParameterError(f"seats must be a whole number from 1, got {seats!r}")
    if seats > r.n_slots:
        raise ParameterError(f"{seats} seats are more than the {r.n_slots} candidates")


def _set_options(rule: Aggregator, seats: int, tie_break: TieBreak, seed: int) -> None:
    """Set the seats and the rule for ties, where the rule has parameters for them that were not set."""
    if rule.supervised or rule.needs_features:
        raise ParameterError(f"{rule.name} learns from labels and is no rule of elections")
    known = {field.name: field.default for field in parameters(rule)}
    if "seats" not in known and seats > 1:
        raise ParameterError(f"{rule.name} elects one candidate, and there are {seats} seats; use stv")
    name, order = split_rule(tie_break)
    values = {"seats": seats, "tie_break": name, "seed": seed, "order": list(order) or None}
    used = values.keys() if "tie_break" in known else {"seats"}
    free = [name for name in used if name in known and getattr(rule, name) == known[name]]
    rule.set_params(**{name: values[name] for name in free})
