"""Published numbers, by our names of the methods, × 100, and earlier measurements."""

from __future__ import annotations

from dataclasses import dataclass

LETOR_METRICS = (*(f"nDCG@{k}" for k in range(1, 6)), *(f"P@{k}" for k in range(1, 6)), "AP")


@dataclass(frozen=True)
class Known:
    """One row of numbers and its source; None if a column is not given."""

    source: str
    values: tuple[float | None, ...]  # in the order of LETOR_METRICS


def _printed(*values: float) -> Known:
    return Known("CIKM 2013, Table 2", values)


def _ends(source: str, ndcg_1: float, ndcg_5: float, mean_precision: float) -> Known:
    return Known(source, (ndcg_1, None, None, None, ndcg_5, *[None] * 5, mean_precision))


# The tables of WWW 2012 and CIKM 2012 also have these rows; svd-lambdarank is SVDsup, the LR-logR of CIKM 2012.
TABLES: dict[str, dict[str, Known]] = {
    "MQ2008-agg": {
        "borda": _ends("LETOR 4.0 site, BordaCount", 23.68, 37.13, 39.45),
        "cps": _printed(26.52, 31.38, 34.59, 37.63, 40.04, 31.63, 32.27, 32.27, 31.66, 30.64, 41.02),
        "svp": _printed(32.49, 36.20, 38.62, 40.17, 41.85, 38.52, 36.42, 34.65, 32.01, 30.23, 43.61),
        "plackett-luce": _printed(35.20, 38.49, 39.70, 40.49, 41.55, 41.32, 38.96, 35.33, 32.02, 29.62, 42.20),
        "condorcet": _printed(35.67, 37.39, 39.11, 40.50, 41.59, 40.94, 37.43, 34.73, 32.08, 29.59, 42.63),
        "rrf": _printed(38.77, 40.73, 43.48, 45.70, 47.17, 44.89, 41.32, 38.82, 36.51, 34.13, 47.71),
        "svd-lambdarank": _printed(42.81, 44.53, 47.02, 49.00, 50.69, 48.85, 44.13, 41.84, 39.09, 36.50, 50.32),
        "crf": _printed(42.29, 44.99, 47.54, 49.05, 51.03, 48.67, 44.58, 42.08, 38.75, 36.55, 50.41),
    },
    "MQ2007-agg": {
        "cps": _printed(31.96, 33.18, 33.86, 34.09, 34.76, 38.65, 38.65, 38.14, 37.19, 37.02, 40.69),
        "svp": _printed(35.82, 35.91, 36.53, 37.16, 37.50, 41.61, 40.28, 39.50, 38.88, 38.10, 42.73),
        "plackett-luce": _printed(40.63, 40.39, 40.26, 40.71, 40.96, 46.93, 45.10, 43.09, 42.32, 41.09, 43.64),
        "condorcet": _printed(37.31, 37.63, 38.03, 38.37, 38.66, 43.26, 42.14, 40.94, 39.85, 38.75, 42.56),
        "rrf": _printed(41.93, 42.66, 42.42, 42.73, 43.13, 48.70, 47.20, 44.84, 43.52, 42.52, 46.72),
        "svd-lambdarank": _printed(46.13, 46.76, 46.71, 46.87, 47.28, 52.90, 51.39, 49.33, 47.80, 46.66, 50.05),
        "crf": _printed(46.93, 46.81, 46.75, 46.51, 46.93, 54.14, 51.48, 49.12, 47.54, 46.68, 50.39),
    },
}

# CIKM 2013, Table 3: nDCG@1 … 5 without experts 13, 20, 24 and 25.
WITHOUT = (42.64, 45.07, 47.63, 49.00, 50.90)

# MAP that consensus methods reached on MQ2008-agg in a first measurement, missing items last.
MEASURED = {
    "borda": 47.98, "condorcet": 48.08, "copeland": 48.08, "kemeny": 47.89, "mc1": 47.8, "mc2": 47.0, "mc3": 47.7,
    "mc4": 47.9, "plackett-luce": 42.32, "rrf": 47.71,
}  # fmt: skip
MEASURED_SLACK = 0.3

# WWW 2012, section 5.2: users, contests won and contests lost of three movies.
CONTESTS = {
    "Sabrina": (190, 10190, 12347),
    "Mrs. Doubtfire": (192, 13251, 17551),
    "Ghost": (170, 11785, 14452),
}

# WWW 2012, Table 3: the first five movies of the models, and the last five from the worst up. Our copy of the paper
# lacks the fifth movie of Plackett–Luce.
ENDS = {
    "Bradley–Terry": (
        ("Pather Panchali", "Wallace & Gromit", "Casablanca", "Close Shave", "Rear Window"),
        ("Children of the Corn", "Lawnmower Man 2", "Free Willy 3", "Kazaam", "Best of the Best 3"),
    ),
    "Plackett–Luce": (
        ("Shawshank Redemption", "Wallace & Gromit", "Usual Suspects", "Star Wars"),
        ("Barb Wire", "Robocop 3", "Gone Fishin'", "Highlander III", "Ready to Wear"),
    ),
    "MPM": (
        ("Star Wars", "Raiders of the Lost Ark", "Godfather, The", "Silence of the Lambs", "Shawshank Redemption"),
        ("Cable Guy", "Striptease", "Very Brady Sequel", "Jungle2Jungle", "Island of Dr. Moreau"),
    ),
}

# CIKM 2012, section 5.1: the judgements of the crowd.
CROWD = {"judgements": 89624, "workers": 762, "workers below 40 judgements": 547, "items": 19033, "gold labels": 2275}

# Why rows differ; shown above the tables.
WHY = (
    "The published rows of Borda and CPS read ranks upside down (finding-upside-down); ours read them as they are. "
    "The papers do not define how their Condorcet treats items that an expert did not rank, nor how it breaks ties; "
    "here such items are ignored."
)
