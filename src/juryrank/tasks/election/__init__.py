"""Elections: winners by several rules side by side, rounds, pairwise majorities, and why the rules disagree."""

from juryrank.tasks.election.contests import Elections, elections
from juryrank.tasks.election.election import election
from juryrank.tasks.election.result import Election
from juryrank.tasks.election.rule_result import RuleResult

__all__ = ["Election", "Elections", "RuleResult", "election", "elections"]
