"""Plackett–Luce and Mallows against Kemeny on 5,000 orders of ten kinds of sushi: ``python bench/sushi.py``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau

import juryrank
from juryrank.data import Consensus, Dataset
from juryrank.kernels.pairwise import kendall_distance
from juryrank.methods import GeneralisedMallows
from juryrank.report import Report, Table

SUSHI = Path(__file__).parents[2] / "shared" / "data" / "preflib" / "00014-00000001.soc"
METHODS = ("kemeny", "mallows", "generalised-mallows", "plackett-luce", "bradley-terry", "borda", "mpm")


@dataclass(frozen=True, repr=False)
class Sushi(Report):
    """Consensuses of one election, how far they are from the votes and from each other."""

    data: Dataset
    consensus: dict[str, Consensus]

    def tables(self, percent: bool | None = None) -> list[Table]:
        kemeny = self.consensus["kemeny"]
        proof = "proven" if kemeny.details["optimal"][0] else "not proven"
        rows = [[r["method"], f"{r['distance']:.4f}", f"{r['tau']:.3f}", ", ".join(r["order"])] for r in self.rows()]
        note = (
            f"Distance: pairs against the consensus in the mean vote; Kemeny's is {proof} to be the smallest. "
            "Names are those of the file's header; the votes look as if they counted from 0, with 10 for 0: "
            "the first would then be toro, and kappa-maki the last."
        )
        columns = ["method", "distance", "τ with Kemeny", "order"]
        return [Table("Sushi", columns, rows, note=note), self._models()]

    def _models(self) -> Table:
        rows = []
        for name in ("mallows", "generalised-mallows"):
            details = self.consensus[name].details
            phi = [float(details["dispersion"][0])]
            if name == "generalised-mallows":
                phi = GeneralisedMallows().fit(self.data).dispersions(self.data)[0].tolist()
            likelihood = details["log_likelihood"][0] / self.data.rankings.list_weight.sum()
            rows.append([name, f"{likelihood:.4f}", " ".join(f"{p:.3f}" for p in phi)])
        uniform = -float(np.log(np.arange(1, self.data.rankings.n_slots + 1)).sum())
        note = f"Log-likelihood per vote; {uniform:.4f} where all orders are equally probable."
        return Table("Models of the votes", ["method", "log-likelihood", "dispersion"], rows, note=note)

    def rows(self) -> list[dict[str, Any]]:
        best = self.consensus["kemeny"].scores
        return [
            {
                "method": name,
                "distance": distance(self.data, c),
                "tau": float(kendalltau(c.scores, best).statistic),
                "order": [item.partition(" ")[0] for item in c.top()[c.queries[0]]],
            }
            for name, c in self.consensus.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"methods": self.rows()}


def distance(data: Dataset, consensus: Consensus) -> float:
    """Pairs that a vote and the consensus order differently, in the mean over votes; equal scores by slot."""
    r, out, place = data.rankings, np.zeros(1), np.empty(data.rankings.n_slots)
    place[consensus.order] = np.arange(len(place))[::-1]
    lists = (r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, r.list_weight)
    kendall_distance(*lists, False, place, out)
    return float(out[0] / r.list_weight.sum())


def main() -> None:
    """Print the tables."""
    if not SUSHI.is_file():
        sys.exit("the sushi votes are not beside the project (../shared/data/preflib): nothing to study")
    data = juryrank.read(SUSHI)
    print(Sushi(data, {name: juryrank.method(name).fit_predict(data) for name in METHODS}))


if __name__ == "__main__":
    main()
