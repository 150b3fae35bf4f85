"""A small set in the format of LETOR 4.0."""

from pathlib import Path

import numpy as np


def write_letor(folder: Path, n_queries: int = 20, n_items: int = 8, n_experts: int = 5) -> None:
    """Five folds of random queries; experts are the better the lower their number, and leave items out."""
    rng = np.random.default_rng(0)
    parts: list[list[str]] = [[] for _ in range(5)]
    for q in range(n_queries):
        label = rng.integers(0, 3, n_items)
        seen = rng.random((n_items, n_experts)) < 0.8
        worth = label[:, None] + (0.3 + np.arange(n_experts)) * rng.normal(size=(n_items, n_experts))
        rank = np.argsort(np.argsort(np.where(seen, -worth, np.inf), axis=0), axis=0) + 1
        for i in range(n_items):
            cells = [f"{k + 1}:{rank[i, k] if seen[i, k] else 'NULL'}" for k in range(n_experts)]
            parts[q % 5].append(f"{label[i]} qid:{q} {' '.join(cells)} #docid = D{q}-{i} inc = 1 prob = 0.5\n")
    for fold in range(5):
        part = [parts[(fold + n) % 5] for n in range(5)]
        target = folder / f"Fold{fold + 1}"
        target.mkdir(parents=True)
        texts = {"train": part[0] + part[1] + part[2], "vali": part[3], "test": part[4]}
        for name, lines in texts.items():
            (target / f"{name}.txt").write_text("".join(lines))
