"""Crowds with known labels and confusion matrices."""

import numpy as np
import polars as pl


def simulate(
    n_tasks: int, n_workers: int, n_classes: int, per_task: int, seed: int, accuracy: tuple[float, float] = (0.4, 0.95)
) -> tuple[pl.DataFrame, np.ndarray, np.ndarray]:
    """Answers of random workers to each task, the true classes, and the confusion matrices [worker, true, given]."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 5.0))
    truth = rng.choice(n_classes, n_tasks, p=shares)
    matrices = np.empty((n_workers, n_classes, n_classes))
    for w in range(n_workers):
        for c in range(n_classes):
            right = rng.uniform(*accuracy)
            others = rng.dirichlet(np.ones(n_classes - 1)) * (1 - right)
            matrices[w, c] = np.insert(others, c, right)
    rows = [
        (f"t{t}", f"w{w}", f"c{rng.choice(n_classes, p=matrices[w, truth[t]])}")
        for t in range(n_tasks)
        for w in rng.choice(n_workers, per_task, replace=False)
    ]
    return pl.DataFrame(rows, schema=["task", "worker", "label"], orient="row"), truth, matrices
