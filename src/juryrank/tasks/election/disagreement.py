"""Where rules disagree about the winner, and why, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from juryrank.methods.elections.rounds import listed, number
from juryrank.tasks.election.pairs import Pairs
from juryrank.tasks.election.rule_result import RuleResult

REASONS = {
    "anti-plurality": "fewest last places",
    "approval": "on most ballots",
    "borda": "highest Borda score",
    "bucklin": "first to a majority when lower places are added",
    "condorcet": "first by majorities",
    "copeland": "most majorities won, less those lost",
    "dowdall": "highest sum of 1/place",
    "kemeny": "first in an order with the fewest disagreements",
    "majority-judgement": "highest median grade",
    "minimax": "smallest worst defeat",
    "ranked-pairs": "first when majorities are locked in, the largest first",
    "schulze": "strongest chains of majorities",
    "star": "wins the runoff of the two highest sums",
}


def disagreement(results: Sequence[RuleResult], pairs: Pairs, ballots: float) -> str:
    """A sentence that says which rules elect whom and why; empty for a single rule."""
    if len(results) < 2:
        return ""
    groups: dict[tuple[str, ...], list[RuleResult]] = {}
    for result in results:
        groups.setdefault(tuple(sorted(result.winners or result.tied)), []).append(result)
    if len(groups) == 1:
        first, all_rules = results[0], "Both rules" if len(results) == 2 else f"All {len(results)} rules"
        return f"{all_rules}{f': {first.outcome()}' if first.is_tie else f' elect {listed(first.winners)}'}."
    winner, clauses = pairs.condorcet_winner, []
    if winner is not None and (winner,) in groups:
        rules = [each.rule for each in groups.pop((winner,))]
        clauses.append(f"{winner}, the Condorcet winner, wins by {listed(rules)}")
    elif winner is not None:
        clauses.append(f"none of these rules elects {winner}, the Condorcet winner, alone")
    rival = winner or max(groups, key=lambda names: len(groups[names]))[0]
    clauses += [_clause(names, members, rival, ballots) for names, members in groups.items()]
    return f"The rules disagree: {'; '.join(clauses)}."


def _clause(names: tuple[str, ...], members: Sequence[RuleResult], rival: str, ballots: float) -> str:
    """Which rules elect these, and why."""
    reasons = [(each.rule, _reason(each, names, rival, ballots)) for each in members]
    rules = listed([f"{rule} ({reason})" if reason else rule for rule, reason in reasons])
    if len(names) > 1:
        return f"{listed(names)} tie by {rules}"
    return f"{rules} {'elects' if len(members) == 1 else 'elect'} {names[0]}"


def _reason(result: RuleResult, names: tuple[str, ...], rival: str, ballots: float) -> str:
    """Why the rule elects these and not the rival."""
    name = result.rule.partition(":")[0]
    if name == "plurality":
        return f"most first places: {number(result.scores[names[0]])} of {number(ballots)}"
    if rival not in names:
        for n, votes in enumerate(result.rounds, 1):
            if rival in votes.eliminated:
                return f"eliminates {rival} in round {n}"
    return "" if len(names) > 1 else REASONS.get(name, "")
