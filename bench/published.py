"""What others printed and measured on MQ2008-agg, by our names of the methods: NDCG@1..5, P@1..5, MAP, times 100."""

from __future__ import annotations

from dataclasses import dataclass

METRICS = (*(f"nDCG@{k}" for k in range(1, 6)), *(f"P@{k}" for k in range(1, 6)), "AP")


@dataclass(frozen=True)
class Known:
    """One row of numbers with where it comes from; None where a column is not given."""

    source: str
    values: tuple[float | None, ...]  # in the order of METRICS


def _printed(source: str, *values: float) -> Known:
    return Known(source, values)


def _measured(ndcg_1: float, ndcg_5: float, mean_precision: float, note: str = "") -> Known:
    return Known(f"measured beforehand{note}", (ndcg_1, None, None, None, ndcg_5, *[None] * 5, mean_precision))


LETOR = "LETOR 4.0 site, BordaCount"
CRF_PAPER = "Volkovs, Zemel, CIKM 2013, table 2"

PUBLISHED = {
    "borda": Known(LETOR, (23.68, None, None, None, 37.13, *[None] * 5, 39.45)),
    "condorcet": _printed(CRF_PAPER, 35.67, 37.39, 39.11, 40.50, 41.59, 40.94, 37.43, 34.73, 32.08, 29.59, 42.63),
    "cps": _printed(CRF_PAPER, 26.52, 31.38, 34.59, 37.63, 40.04, 31.63, 32.27, 32.27, 31.66, 30.64, 41.02),
    "crf": _printed(CRF_PAPER, 42.29, 44.99, 47.54, 49.05, 51.03, 48.67, 44.58, 42.08, 38.75, 36.55, 50.41),
    "plackett-luce": _printed(CRF_PAPER, 35.20, 38.49, 39.70, 40.49, 41.55, 41.32, 38.96, 35.33, 32.02, 29.62, 42.20),
    "rrf": _printed(CRF_PAPER, 38.77, 40.73, 43.48, 45.70, 47.17, 44.89, 41.32, 38.82, 36.51, 34.13, 47.71),
    "svd-lambdarank": _printed(CRF_PAPER, 42.81, 44.53, 47.02, 49.00, 50.69, 48.85, 44.13, 41.84, 39.09, 36.50, 50.32),
    "svp": _printed(CRF_PAPER, 32.49, 36.20, 38.62, 40.17, 41.85, 38.52, 36.42, 34.65, 32.01, 30.23, 43.61),
}

MEASURED = {
    "blend": _measured(43.15, 51.83, 51.27, ", Nyström + linear"),
    "borda": _measured(37.84, 47.71, 47.98),
    "condorcet": _measured(38.64, 47.76, 48.08, ", order by wins"),
    "copeland": _measured(38.64, 47.76, 48.08, ", order by wins"),
    "crf": _measured(42.56, 51.14, 50.78, ", lr 100"),
    "jury": _measured(43.28, 51.23, 50.81),
    "kemeny": _measured(37.96, 47.60, 47.89, ", local search"),
    "lambdarank": _measured(42.31, 51.74, 50.89),
    "mc1": _measured(38.3, 47.5, 47.8),
    "mc2": _measured(37.8, 46.5, 47.0),
    "mc3": _measured(38.4, 47.2, 47.7),
    "mc4": _measured(37.4, 47.7, 47.9),
    "plackett-luce": _measured(35.54, 41.58, 42.32, ", stopped early"),
    "ridge": _measured(42.47, 51.64, 50.93),
    "rrf": _measured(38.77, 47.18, 47.71),
    "svd-lambdarank": _measured(42.94, 50.77, 50.51),
    "theta-mpm": _measured(38.18, 43.54, 44.75),
}

TO_REPRODUCE = {"rrf": 0.02}  # how far any column may stand from the published one
TO_REACH = 0.3  # how far MAP may stand below the measured row
FLOORS = {  # nDCG@5 and MAP that methods must reach that learn whom to trust
    "blend": (51.8, 51.2),
    "crf": (51.0, 50.4),
    "jury": (51.1, 50.7),
    "ridge": (51.3, 50.7),
    "svd-lambdarank": (50.6, 50.3),
}
