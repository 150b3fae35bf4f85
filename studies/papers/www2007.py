"""Liu, Liu, Qin, Ma and Li, WWW 2007: supervised chains and Borda beside unsupervised ones, weights, redundancy."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec

import numpy as np
from scipy.stats import rankdata

import juryrank as jr
from studies.arrays import Floats
from studies.learners import learner
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.folds import rotation
from studies.papers.ohsumed import ohsumed
from studies.papers.trials import METRICS, OURS, QUICK, Trial, Trials, letor, result_table
from studies.pictures import Figure

SHOWN = (*(f"P@{k}" for k in (1, 3, 5, 10)), "AP", *(f"nDCG@{k}" for k in (1, 3, 5, 10)))
CHAINS = ("mc1", "mc2", "mc3", "mc4")
PLAIN = ("borda", *CHAINS, "borda-fuse")
BEST = "supervised-mc2"
ROWS = tuple(map(Trial.of, (*PLAIN, "supervised-borda", *(f"supervised-{chain}" for chain in CHAINS))))
PARTS = 4  # of OHSUMED: two for training, one for validation, one for testing
RELAXED_QUERIES = {"OHSUMED": 1}  # for the semidefinite program; elsewhere 10
WHY = (
    "The paper's own numbers are of other experts (30 rankers it does not name, and lists of six engines that are not "
    "public), so its claims are compared, not its rows."
)
TO_REACH = 49.0  # MAP of supervised MC2 on MQ2008-agg


def trials_on(context: Context, name: str) -> Trials:
    """OHSUMED in the rotation of the paper, others with their own folds."""
    if name != "OHSUMED":
        return letor(context, name)

    def make() -> Trials:
        data = ohsumed(context.data / name)
        return Trials(context, name, data, rotation(data, PARTS)[: 2 if context.quick else PARTS])

    return context.once(f"trials on {name}", make)  # type: ignore[no-any-return]


def table(name: str, context: Context) -> Findings:
    """Tables 1 and 2 with our methods below."""
    trials = trials_on(context, name)
    rows = [*ROWS, *_relaxed(context, name), *map(Trial.of, ("rrf", *OURS))]
    found = result_table(trials, rows, baseline=BEST, metrics=SHOWN)
    return Findings(results=(found,), claims=tuple(_claims(trials)), targets=_targets(trials), notes=(WHY,))


def _relaxed(context: Context, name: str) -> list[Trial]:
    """The semidefinite program, if cvxpy is installed and it need not be quick."""
    if context.quick or find_spec("cvxpy") is None:
        return []
    params = {"solver": "sdp", "queries": RELAXED_QUERIES.get(name, 10), "seed": 0}  # minutes for each seed
    return [Trial("supervised-mc2 by sdp", BEST, params)]


def _claims(trials: Trials) -> list[Claim]:
    best = Trial.of(BEST)
    leads = dict(zip(PLAIN, (row[0] for row in trials.leads([Trial.of(n) for n in PLAIN], best, ["AP"])), strict=True))
    nearest = max(leads, key=lambda name: leads[name].lead)
    claims = [
        Claim(
            "Supervised MC2 is above Borda, MC1–4 and Borda Fuse",
            f"MAP of {nearest}, the nearest, {leads[nearest]}",
            all(found.lead < 0 for found in leads.values()),
            noisy=leads[nearest].p >= 0.05,
        )
    ]
    for chain in CHAINS:
        lead = trials.lead(Trial.of(f"supervised-{chain}"), Trial.of(chain), "AP")
        claims.append(lead.claim(f"Supervision raises {chain.upper()}", "MAP"))
    fuse = trials.lead(Trial.of("borda-fuse"), Trial.of("borda"), "AP")
    claims.append(
        Claim("Borda Fuse, weights by accuracy alone, is no better than Borda", f"MAP {fuse}", not fuse.clear)
    )
    return claims


def _targets(trials: Trials) -> tuple[Claim, ...]:
    if trials.name != "MQ2008-agg":
        return ()
    found = float(trials.means(Trial.of(BEST))[METRICS.index("AP")])
    return (Claim(f"{BEST} by gradient: MAP ≥ {TO_REACH}", f"{found:.2f}", found >= TO_REACH),)


def weights(name: str, context: Context) -> Findings:
    """Figure 1 and Table 6: weights beside the accuracy of experts, and the agreement of experts."""
    trials = trials_on(context, name)
    part = trials.parts()[0]
    params = QUICK[BEST] if context.quick else {}
    model = learner(BEST, **params).fit(part.train, valid=part.valid)
    explained = jr.explain(model, part.train, metrics=("AP",)).to_dict()
    learned = {name: row["weight"] for name, row in explained["weights"].items()}
    single = {name: value for name, value in explained["alone"]["experts"].items() if name in learned}
    names = sorted((name for name, value in single.items() if not np.isnan(value)), key=lambda name: -single[name])
    accuracy, weight = (np.array([values[name] for name in names]) for values in (single, learned))
    agreement = explained["redundancy"]
    at = [agreement["experts"].index(expert) for expert in names]
    share = np.array(agreement["share"], float)[np.ix_(at, at)]
    np.fill_diagonal(share, np.nan)
    nearest = np.nanmax(share, axis=1)
    sides = {"MAP of the expert alone": 100 * accuracy, "agreement with the nearest other expert": nearest}
    scatter = [
        {"x": x.tolist(), "y": weight.tolist(), "names": names, "xlabel": label, "ylabel": "weight"}
        for label, x in sides.items()
    ]
    squares = {"rows": names, "columns": names, "values": np.nan_to_num(2 * share - 1).tolist()}
    first = f"Figure 1: MAP and weights by supervised MC2, {name}, first trial"
    second = f"Table 6: agreement of experts, {name}: above chance blue, below red"
    return Findings(
        claims=tuple(_weight_claims(accuracy, weight, np.nanmean(share, axis=1))),
        figures=(
            Figure(f"www2007-figure1-{name}", first, "scatter", {"panels": scatter}),
            Figure(f"www2007-table6-{name}", second, "hinton", squares),
        ),
    )


def _weight_claims(accuracy: Floats, weight: Floats, common: Floats) -> list[Claim]:
    """Of two equally accurate experts, does the one that agrees with others have the smaller weight?"""
    good, heavy, usual = (rankdata(values) for values in (accuracy, weight, common))
    along = float(np.corrcoef(good, heavy)[0, 1])
    apart = float(np.corrcoef(_residuals(usual, good), _residuals(heavy, good))[0, 1])
    span = f"from {weight.min():.3f} to {weight.max():.3f}"
    return [
        Claim("Weights differ from each other", span, bool(weight.max() > 2 * weight.min())),
        Claim("Weights do not only follow accuracy", f"rank correlation of weight and MAP {along:+.2f}", along < 0.9),
        Claim(
            "Experts that agree with others have smaller weights at equal accuracy",
            f"rank correlation {apart:+.2f}",
            apart < 0,
        ),
    ]


def _residuals(values: Floats, others: Floats) -> Floats:
    """The residuals of a linear regression on the others."""
    rest: Floats = values - np.polyval(np.polyfit(others, values, 1), others)
    return rest


def experiments(sets: tuple[str, ...]) -> tuple[Experiment, ...]:
    """Tables and weights on OHSUMED and on each set."""
    return tuple(
        Experiment(f"www2007-{kind}-{s}", "www2007", f"{title}: {s}", (s,), partial(run, s))
        for s in ("OHSUMED", *sets)
        for kind, title, run in (("tables", "Tables 1 and 2", table), ("weights", "Figure 1 and Table 6", weights))
    )
