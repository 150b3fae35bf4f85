"""WWW 2007: each table and figure of the paper beside our runs."""

from __future__ import annotations

from collections.abc import Sequence

from studies.papers.findings import EXCEPT, IMPOSSIBLE, NOT, REPRODUCED, OverviewRow
from studies.papers.trials import METRICS, Lead, Trial, Trials
from studies.papers.www2007_printed import AS_PRINTED

ENGINES = f"{IMPOSSIBLE}: the lists of six web search engines and their judgements are not public"
NO_NUMBERS = "its numbers are missing from the text of the paper that we have"
ABOVE = f"Supervised MC2 is above Borda, MC1–4 and Borda Fuse; {NO_NUMBERS}"
MEASURES = {"MAP": "AP", "nDCG@5": "nDCG@5"}


def tables_overview(trials: Trials, plain: Sequence[Trial], ours: Trial, relaxed: Sequence[Trial]) -> list[OverviewRow]:
    """Tables 1 and 2 on OHSUMED; elsewhere Tables 3 to 5, with other lists in their place."""
    first, second = (_row(trials, measure, plain, ours, relaxed) for measure in MEASURES)
    if trials.name == "OHSUMED":
        return [
            OverviewRow("Table 1, OHSUMED (precision and MAP)", ABOVE, *first),
            OverviewRow("Table 2, OHSUMED (nDCG)", ABOVE, *second),
        ]
    place = f"{trials.name} in their place"
    fuse = "Borda Fuse is below the unsupervised methods"
    return [
        OverviewRow(
            "Table 3, sample queries",
            "34 queries and “etc.”",
            "",
            "",
            f"{IMPOSSIBLE}: the log of queries is not public",
        ),
        OverviewRow(f"Table 4, six engines (precision and MAP), {place}", ABOVE, *first[:2], ENGINES),
        OverviewRow(f"Table 5, six engines (nDCG), {place}", f"{ABOVE}; {fuse}", *second[:2], ENGINES),
    ]


def _row(
    trials: Trials, measure: str, plain: Sequence[Trial], ours: Trial, relaxed: Sequence[Trial]
) -> tuple[str, str, str]:
    """As printed, our extension, and the verdict on "above all others"."""
    near, lead = nearest(trials, AS_PRINTED, plain, measure)
    our_near, our_lead = nearest(trials, ours, plain, measure)
    others = ", ".join(_named(trials, t, measure) for t in plain)
    printed = [_named(trials, t, measure) for t in relaxed if "margin" in t.params]
    program = [_named(trials, t, measure) for t in relaxed if "margin" not in t.params]
    by_gradient = f"by gradient {_mean(trials, AS_PRINTED, measure):.2f}, over {near}, the nearest, {lead}"
    as_printed = f"{measure}: no margin, {'; '.join([by_gradient, *printed, others])}"
    by_ours = f"margin 3, by gradient: {_mean(trials, ours, measure):.2f}, over {our_near}, the nearest, {our_lead}"
    extension = "; ".join([by_ours, *program])
    return as_printed, extension, verdict(near, lead, our_near, our_lead)


def verdict(near: str, lead: Lead, our_near: str, our_lead: Lead) -> str:
    """Whether supervised MC2 is above all others, as printed and with our margin.

    >>> verdict("mc2", Lead(0.1, 0.2, 0.6), "mc2", Lead(0.5, 0.3, 0.2))[len("reproduced except that "):]
    'the lead over mc2 is within noise (p = 0.6000); with our margin it is above all, mc2 within noise (p = 0.2000)'
    >>> verdict("mc2", Lead(1.0, 0.2, 0.001), "mc2", Lead(0.5, 0.3, 0.11))
    'reproduced'
    """
    if lead.clear:
        return REPRODUCED
    if lead.lead > 0:
        text = f"{EXCEPT} that the lead over {near} is within noise (p = {lead.p:.4f})"
    else:
        text = f"{NOT}: as printed it is not above {near} (p = {lead.p:.4f})"
    if our_lead.lead <= 0:
        return f"{text}, nor with our margin"
    noise = "" if our_lead.clear else f", {our_near} within noise (p = {our_lead.p:.4f})"
    return f"{text}; with our margin it is above all{noise}"


def nearest(trials: Trials, one: Trial, others: Sequence[Trial], measure: str) -> tuple[str, Lead]:
    """The other method that is best by a measure, and the lead over it."""
    best = max(others, key=lambda t: _mean(trials, t, measure))
    return best.label, trials.lead(one, best, MEASURES[measure])


def _named(trials: Trials, trial: Trial, measure: str) -> str:
    return f"{trial.label} {_mean(trials, trial, measure):.2f}"


def _mean(trials: Trials, trial: Trial, measure: str) -> float:
    return float(trials.means(trial)[METRICS.index(MEASURES[measure])])


def weights_overview(name: str, correlations: dict[str, tuple[float, float]]) -> list[OverviewRow]:
    """Figure 1 and Table 6; rank correlations of weights with MAP, and with agreement at equal MAP."""
    printed, ours = correlations["as printed"], correlations["ours"]
    figure = "weights of engines differ and do not follow MAP; read off a picture"
    table = f"engines that correlate with others have smaller weights; {NO_NUMBERS}"
    return [
        OverviewRow(
            f"Figure 1, MAP and weights of six engines, {name} in their place",
            figure,
            f"no margin, rank correlation of weight and MAP {printed[0]:+.2f}",
            f"margin 3, {ours[0]:+.2f}",
            ENGINES,
        ),
        OverviewRow(
            f"Table 6, correlation of six engines, {name} in their place",
            table,
            f"no margin, rank correlation of weight and agreement, at equal MAP {printed[1]:+.2f}",
            f"margin 3, {ours[1]:+.2f}",
            ENGINES,
        ),
    ]
