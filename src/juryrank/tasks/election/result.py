"""The result of ``election``: winners by rule, rounds, pairwise counts, and sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from juryrank.data.arrays import Floats
from juryrank.errors import UnknownNameError
from juryrank.methods.elections.rounds import Round, counted, number
from juryrank.polars import pl
from juryrank.report import Report, Table, csv_text
from juryrank.report.escapes import escape_formula
from juryrank.tasks.election.disagreement import disagreement
from juryrank.tasks.election.pairs import Pairs, draw_pairs
from juryrank.tasks.election.rule_result import RuleResult

MOST_CANDIDATES = 40  # of the table of pairs; files and pictures have all


@dataclass(frozen=True, eq=False, repr=False)
class Election(Report):
    """The result of an election by several rules; ``result["irv"]`` is that of one rule."""

    results: tuple[RuleResult, ...]
    pairs: Pairs
    ballots: float  # the sum of their weights
    seats: int = 1

    def __repr__(self) -> str:
        rules = ", ".join(result.rule for result in self.results)
        n_candidates, n_ballots = counted(len(self.candidates), "candidate"), counted(self.ballots, "ballot")
        return f"Election({n_candidates}, {n_ballots}, by {rules})"

    def __getitem__(self, rule: str) -> RuleResult:
        found = {result.rule: result for result in self.results}
        if rule not in found:
            raise UnknownNameError.of("rule", rule, found)
        return found[rule]

    @property
    def candidates(self) -> tuple[str, ...]:
        return self.pairs.names

    @property
    def winners(self) -> dict[str, list[str]]:
        """The winners by rule; several for one seat are a tie."""
        return {result.rule: list(result.winners or result.tied) for result in self.results}

    @property
    def counts(self) -> Floats:
        """[n, n]: how many ballots have the candidate of the row above that of the column."""
        return self.pairs.counts

    @property
    def margins(self) -> Floats:
        """[n, n]: ``counts`` less the counts of the other direction."""
        return self.pairs.margins

    @property
    def condorcet_winner(self) -> str | None:
        """The candidate that beats every other one in pairs, if there is one."""
        return self.pairs.condorcet_winner

    @property
    def smith_set(self) -> tuple[str, ...]:
        """The smallest group of candidates each of whom beats everyone outside it in pairs."""
        return self.pairs.smith_set

    def sentences(self) -> list[str]:
        """What the pairs say, and where the rules disagree and why."""
        return list(filter(None, [self.pairs.sentence(), disagreement(self.results, self.pairs, self.ballots)]))

    def summary(self) -> str:
        """One line per rule, then the sentences."""
        lines = [f"{result.rule}: {result.sentence()}" for result in self.results]
        return "\n".join([*lines, *self.sentences()])

    def tables(self, percent: bool | None = None) -> list[Table]:
        ballots = f"{counted(self.ballots, 'ballot')}, {counted(len(self.candidates), 'candidate')}"
        seats = f", {self.seats} seats" if self.seats > 1 else ""
        rows = [[result.rule, result.sentence(), result.order()] for result in self.results]
        head = ["rule", "winner" if self.seats == 1 else "elected", "order"]
        first = Table("", head, rows, n_names=3, note=" ".join([f"{ballots}{seats}.", *self.sentences()]))
        return [first, *self.round_tables(), *self._pair_table()]

    def round_tables(self) -> list[Table]:
        """The rounds of each rule that has any."""
        return [_round_table(each) for each in self.results if each.rounds]

    def _pair_table(self) -> list[Table]:
        n = len(self.candidates)
        if not 2 <= n <= MOST_CANDIDATES:
            return []
        counts, margins = self.counts, self.margins
        rows = [
            [name, *("–" if i == j else f"{number(counts[i, j])} ({_signed(margins[i, j])})" for j in range(n))]
            for i, name in enumerate(self.candidates)
        ]
        note = "Ballots with the candidate of the row above that of the column, and (margin); unranked is last."
        return [Table("Pairs", ["candidate", *self.candidates], rows, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for result in self.results:
            rank = 1
            for group in result.places:
                for name in group:
                    won = name in (result.winners or result.tied)
                    score = result.scores[name]
                    out.append({"rule": result.rule, "rank": rank, "candidate": name, "score": score, "winner": won})
                rank += len(group)
        return out

    def to_dict(self) -> dict[str, Any]:
        results = [
            {
                "rule": each.rule, "winners": list(each.winners), "tied": list(each.tied), "text": each.sentence(),
                "places": [list(group) for group in each.places], "scores": each.scores,
                "rounds": [votes._asdict() for votes in each.rounds],
            }
            for each in self.results
        ]  # fmt: skip
        facts = {
            "condorcet_winner": self.condorcet_winner, "unbeaten": list(self.pairs.unbeaten),
            "smith_set": list(self.smith_set), "sentences": self.sentences(),
        }  # fmt: skip
        pairs = {"counts": self.counts.tolist(), "margins": self.margins.tolist()}
        head = {"ballots": self.ballots, "seats": self.seats, "candidates": list(self.candidates)}
        return {**head, "results": results, **facts, "pairs": pairs}

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per rule and candidate, best first."""
        return pl.DataFrame(self.rows())

    def matrix_rows(self) -> list[dict[str, Any]]:
        """The pairs as one row per candidate and opponent: votes for and against, and the margin."""
        names, margins = self.candidates, self.margins
        return [
            {
                "candidate": one, "opponent": other, "for": float(self.counts[i, j]),
                "against": float(self.counts[j, i]), "margin": float(margins[i, j]),
            }
            for i, one in enumerate(names) for j, other in enumerate(names) if i != j
        ]  # fmt: skip

    def matrix_csv(self) -> str:
        """The pairs as CSV; a name that a spreadsheet would take for a formula gets an apostrophe."""
        rows = [
            [*(escape_formula(name) for name in list(row.values())[:2]), *(f"{n:.15g}" for n in list(row.values())[2:])]
            for row in self.matrix_rows()
        ]
        return csv_text([["candidate", "opponent", "for", "against", "margin"], *rows])

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the pairwise counts, coloured by margin, to an image file."""
        draw_pairs(path, self.candidates, self.counts, self.margins)


def _signed(margin: float) -> str:
    return f"{margin:+.6g}" if margin else "0"


def _round_table(result: RuleResult) -> Table:
    """Candidates in rows, rounds in columns, and what happened in each round below."""
    rounds: Sequence[Round] = result.rounds
    names = list(dict.fromkeys(name for votes in rounds for name in votes.counts))
    rows = [
        [name, *(number(votes.counts[name]) if name in votes.counts else "–" for votes in rounds)] for name in names
    ]
    if any(votes.exhausted for votes in rounds):
        rows.append(["(exhausted)", *(number(votes.exhausted) for votes in rounds)])
    notes = [f"Round {n}: {votes.note}." for n, votes in enumerate(rounds, 1) if votes.note]
    head = ["candidate", *(f"round {n}" for n in range(1, len(rounds) + 1))]
    return Table(f"{result.rule}: rounds", head, rows, note=" ".join(notes))
