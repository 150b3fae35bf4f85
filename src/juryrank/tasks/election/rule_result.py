"""What one rule makes of the ballots: winners, ties, places, rounds."""

from __future__ import annotations

from dataclasses import dataclass

from juryrank.data import Consensus
from juryrank.data.ties import TieBreak, split_rule
from juryrank.methods.elections.rounds import Round, listed

LONGEST_ORDER = 60  # characters of an order in the table of winners, where more than one place is shown
BROKEN = {"name": "by name", "random": "at random", "given": "by the given order"}


@dataclass(frozen=True, eq=False)
class RuleResult:
    """What one rule makes of the ballots."""

    rule: str
    winners: tuple[str, ...]  # several: they tie, unless each has a seat
    tied: tuple[str, ...]  # who wins in some, but not in all ways to break ties
    places: tuple[tuple[str, ...], ...]  # from best to worst; candidates in one place tie
    scores: dict[str, float]
    rounds: tuple[Round, ...] = ()
    note: str = ""  # a tie that was broken
    doubt: str = ""  # why the rule might have other winners
    seated: bool = False  # each of the winners has a seat

    @classmethod
    def of(cls, rule: str, consensus: Consensus, tie_break: TieBreak, seed: int) -> RuleResult:
        """The result of a rule from its consensus on one query."""
        before = _winners(consensus)
        broken = consensus.break_ties(tie_break, seed=seed)
        note = ""
        if len(before) > 1 and split_rule(tie_break)[0] != "none" and "elected" not in consensus.details:
            note = f"{listed(before)} tie; {_winners(broken)[0]} wins {BROKEN[split_rule(tie_break)[0]]}"
        groups: dict[float, list[str]] = {}
        for name, score in next(iter(broken.to_dict().values())).items():
            groups.setdefault(score, []).append(name)
        scores = next(iter(consensus.to_dict().values()))
        places = tuple(tuple(sorted(group)) for group in groups.values())
        winners, tied = places[0], places[0] if len(places[0]) > 1 else ()
        seated = "elected" in consensus.details
        if seated:
            winners = tuple(consensus.details["elected"][0])
        if "tied" in consensus.details:
            tied = tuple(consensus.details["tied"][0])
        rounds = tuple(consensus.details["rounds"][0]) if "rounds" in consensus.details else ()
        return cls(rule, winners, tied, places, scores, rounds, note, _doubt(consensus), seated)

    @property
    def is_tie(self) -> bool:
        """Whether somebody ties for a seat at the end of the count."""
        return not self.winners or (len(self.winners) > 1 and not self.seated) or bool(self._for_the_rest())

    def outcome(self) -> str:
        """The winners, or who ties."""
        if not self.winners or (len(self.winners) > 1 and not self.seated):
            return f"{listed(self.winners or self.tied)} tie"
        more = self._for_the_rest()
        return (self.note or listed(self.winners)) + (f"; {listed(more)} tie for the rest" if more else "")

    def sentence(self) -> str:
        """The winners in plain words.

        >>> RuleResult("borda", ("A", "B"), ("A", "B"), (("A", "B"),), {}).sentence()
        'A and B tie'
        >>> RuleResult("irv", ("A",), ("A", "B"), (("A",), ("B",)), {}).sentence()
        'A; how a tie within the count falls decides between A and B'
        """
        parts = [self.outcome()]
        if self.tied != self.winners and set(self.tied) & set(self.winners):
            parts.append(f"how a tie within the count falls decides between {listed(self.tied)}")
        return "; ".join([*parts, *filter(None, [self.doubt])])

    def _for_the_rest(self) -> tuple[str, ...]:
        """Who ties for the seats that nobody has."""
        return self.tied if self.winners and not set(self.tied) & set(self.winners) else ()

    def order(self) -> str:
        """The candidates from best to worst, with ``=`` between those that tie; of a long order the beginning."""
        groups = [" = ".join(group) for group in self.places]
        shown = groups[:1]
        for group in groups[1:]:
            if len(" > ".join([*shown, group])) > LONGEST_ORDER:
                return " > ".join([*shown, "…"])
            shown.append(group)
        return " > ".join(shown)


def _winners(consensus: Consensus) -> list[str]:
    return sorted(next(iter(consensus.winners().values())))


def _doubt(consensus: Consensus) -> str:
    details = consensus.details
    if "complete" in details and not details["complete"][0]:
        return "perhaps others, too: not all ways to break ties were followed"
    if "optimal" in details and not details["optimal"][0]:
        return "the order is not proven to be the best"
    return ""
