"""Plackett–Luce and Mallows against Kemeny on 5,000 orders of ten kinds of sushi."""

from __future__ import annotations

import numpy as np
from scipy.stats import kendalltau

import juryrank as jr
from studies.papers.experiment import Context
from studies.papers.findings import Claim, Findings
from studies.tables import Table

FILE = "preflib/00014-00000001.soc"
METHODS = ("kemeny", "mallows", "generalised-mallows", "plackett-luce", "bradley-terry", "borda", "mpm")


def study(context: Context) -> Findings:
    """Consensus rankings of one election: their distances to the votes and to each other."""
    data = jr.read(context.data / FILE)
    consensus = {name: jr.method(name).fit_predict(data) for name in METHODS}
    away = {name: distance(data, found) for name, found in consensus.items()}
    best = consensus["kemeny"].scores
    rows = []
    for name, found in consensus.items():
        order = ", ".join(item.partition(" ")[0] for item in found.top()[found.queries[0]])
        rows.append([name, f"{away[name]:.4f}", f"{kendalltau(found.scores, best).statistic:.3f}", order])
    note = (
        "Distance: the mean number of pairs that a vote and the consensus order differently. Names are those of the "
        "file's header; the votes seem to count from 0, with 10 for 0: then toro is the first and kappa-maki the last."
    )
    nearest = min(away[name] for name in METHODS if name != "kemeny")
    proven = bool(consensus["kemeny"].details["optimal"][0])
    measured = f"{away['kemeny']:.4f}, the others {nearest:.4f}; {'' if proven else 'not '}proven"
    columns = ["method", "distance", "τ with Kemeny", "order"]
    return Findings(
        claims=(Claim("No order is closer to the votes than Kemeny's", measured, away["kemeny"] <= nearest),),
        tables=(Table("Sushi", columns, rows, note=note), _models(data, consensus)),
    )


def _models(data: jr.Dataset, consensus: dict[str, jr.Consensus]) -> Table:
    rows = []
    for name in ("mallows", "generalised-mallows"):
        details = consensus[name].details
        phi = [float(details["dispersion"][0])]
        if name == "generalised-mallows":
            phi = jr.GeneralisedMallows().fit(data).dispersions(data)[0].tolist()
        likelihood = details["log_likelihood"][0] / data.rankings.list_weight.sum()
        rows.append([name, f"{likelihood:.4f}", " ".join(f"{p:.3f}" for p in phi)])
    uniform = -float(np.log(np.arange(1, data.rankings.n_slots + 1)).sum())
    note = f"Log-likelihood per vote; {uniform:.4f} where all orders are equally probable."
    return Table("Models of the votes", ["method", "log-likelihood", "dispersion"], rows, note=note)


def distance(data: jr.Dataset, consensus: jr.Consensus) -> float:
    """Pairs that a vote and the consensus order differently, the mean over votes; equal scores are in slot order."""
    r, total, place = data.rankings, 0.0, np.empty(data.rankings.n_slots)
    place[consensus.order] = np.arange(len(place))
    for m in range(r.n_lists):
        entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        rank, order = r.entry_rank[entries], place[r.entry_slot[entries]]
        total += r.list_weight[m] * float(((rank[:, None] < rank) & (order[:, None] > order)).sum())
    return total / float(r.list_weight.sum())
