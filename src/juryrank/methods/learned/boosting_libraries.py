"""LightGBM, XGBoost and CatBoost as growers of forests; each is imported only when it is used."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, MissingExtraError
from juryrank.methods.learned.boosting import TrainingRows
from juryrank.methods.learned.forest import Forest

LARGEST_LABEL = 30  # that the libraries accept
LIBRARIES = ("lightgbm", "xgboost", "catboost")


@dataclass(frozen=True)
class Grower:
    """A library with the settings that all three have; one thread, so that the trees do not depend on how many."""

    library: str
    rate: float
    leaves: int
    least: int
    columns: float
    shrink: float
    seed: int

    def __call__(self, rows: TrainingRows, n_trees: int) -> Forest:
        """A forest of at most so many trees."""
        grow = {"lightgbm": self._lightgbm, "xgboost": self._xgboost, "catboost": self._catboost}[self.library]
        forest = grow(_import(self.library), rows, *library_labels(rows.gains), n_trees)
        if fault := forest.fault(rows.x.shape[1]):
            raise DataError(f"boosted: the trees of {self.library} cannot be read: {fault}; try another library")
        return forest

    def _lightgbm(self, library: Any, rows: TrainingRows, labels: Ints, graded: bool, n_trees: int) -> Forest:
        gain = [2.0**n - 1 if graded else float(n) for n in range(LARGEST_LABEL + 1)]
        settings = {
            "objective": "lambdarank", "label_gain": gain, "learning_rate": self.rate, "num_leaves": self.leaves,
            "min_data_in_leaf": self.least, "feature_fraction": self.columns, "lambda_l2": self.shrink,
            "seed": self.seed, "deterministic": True, "force_row_wise": True, "num_threads": 1, "verbose": -1,
        }  # fmt: skip
        data = library.Dataset(rows.x, labels, group=rows.sizes, params={"verbose": -1})
        trees = library.train(settings, data, n_trees).dump_model()["tree_info"]
        return _join([_from_lightgbm(tree["tree_structure"]) for tree in trees])

    def _xgboost(self, library: Any, rows: TrainingRows, labels: Ints, graded: bool, n_trees: int) -> Forest:
        settings = {
            "objective": "rank:ndcg", "ndcg_exp_gain": graded, "eta": self.rate, "tree_method": "hist",
            "grow_policy": "lossguide", "max_depth": 0, "max_leaves": self.leaves, "lambda": self.shrink,
            "min_child_weight": 0.01 * self.least, "colsample_bytree": self.columns, "seed": self.seed, "nthread": 1,
            "verbosity": 0,
        }  # fmt: skip
        data = library.DMatrix(rows.x, label=labels, nthread=1)
        data.set_group(rows.sizes)
        model = json.loads(bytes(library.train(settings, data, n_trees).save_raw("json")))
        return _join([_from_xgboost(tree) for tree in model["learner"]["gradient_booster"]["model"]["trees"]])

    def _catboost(self, library: Any, rows: TrainingRows, labels: Ints, graded: bool, n_trees: int) -> Forest:
        settings = {
            "loss_function": "YetiRank", "iterations": n_trees, "learning_rate": self.rate,
            "depth": max(1, round(np.log2(self.leaves))), "rsm": self.columns, "l2_leaf_reg": self.shrink,
            "random_seed": self.seed, "thread_count": 1, "allow_writing_files": False, "logging_level": "Silent",
        }  # fmt: skip
        varies = (rows.x != rows.x[:1]) & ~(np.isnan(rows.x) & np.isnan(rows.x[:1]))
        if not varies.any():  # works around a bug in catboost
            return _join([])
        group = np.repeat(np.arange(len(rows.sizes)), rows.sizes)
        model = library.CatBoost(settings).fit(library.Pool(rows.x, labels, group_id=group, thread_count=1))
        with TemporaryDirectory() as folder:
            model.save_model(str(Path(folder, "model.json")), format="json")
            saved = json.loads(Path(folder, "model.json").read_text(encoding="utf-8"))
        right = [f["nan_value_treatment"] == "AsTrue" for f in saved["features_info"]["float_features"]]
        return _join([_from_catboost(tree, right) for tree in saved["oblivious_trees"]])


def _import(library: str) -> Any:
    try:
        return import_module(library)
    except ImportError:
        raise MissingExtraError.of("boost", f"boosted trees need {library}") from None


def library_labels(gains: Floats) -> tuple[Ints, bool]:
    """Labels that the libraries accept, and whether they are the grades themselves: whole numbers, not too large."""
    if (gains == np.round(gains)).all() and gains.max() <= LARGEST_LABEL:
        return gains.astype(np.int64), True
    return np.round(LARGEST_LABEL * gains / gains.max()).astype(np.int64), False


Node = tuple[int, float, int, int, bool, float]  # feature, threshold, left, right, missing goes left, value


def _from_lightgbm(tree: dict[str, Any]) -> list[Node]:
    nodes: list[Node] = []
    waiting: list[tuple[dict[str, Any], int, bool]] = [(tree, -1, True)]
    while waiting:
        node, parent, is_left = waiting.pop()
        at = len(nodes)
        if parent >= 0:
            feature, threshold, left, right, missing, value = nodes[parent]
            nodes[parent] = (feature, threshold, *((at, right) if is_left else (left, at)), missing, value)
        if "leaf_value" in node:
            nodes.append((0, 0.0, -1, -1, False, float(node["leaf_value"])))
            continue
        threshold = float(node["threshold"])
        # Where no value was missing in training, one that is missing later counts as 0.
        missing = node["default_left"] if node["missing_type"] == "NaN" else threshold >= 0
        nodes.append((int(node["split_feature"]), threshold, 0, 0, bool(missing), 0.0))
        waiting += [(node["right_child"], at, False), (node["left_child"], at, True)]
    return nodes


def _from_xgboost(tree: dict[str, Any]) -> list[Node]:
    condition = np.array(tree["split_conditions"], np.float32)
    below = np.nextafter(condition, np.float32(-np.inf))  # xgboost compares with <, a Forest with <=
    columns = (tree["split_indices"], below, tree["left_children"], tree["right_children"], tree["default_left"])
    return [
        (int(f), float(t), int(a), int(b), bool(m), float(v) if a < 0 else 0.0)
        for f, t, a, b, m, v in zip(*columns, condition, strict=True)
    ]


def _from_catboost(tree: dict[str, Any], missing_right: list[bool]) -> list[Node]:
    """Every level has one split; that of the first level is the lowest bit of the leaf's number."""
    splits, values = tree["splits"] or [], tree["leaf_values"]
    nodes: list[Node] = []
    for depth, split in enumerate(reversed(splits)):
        feature = int(split["float_feature_index"])
        for n in range(2**depth):
            left = 2 ** (depth + 1) - 1 + 2 * n
            nodes.append((feature, float(split["border"]), left, left + 1, not missing_right[feature], 0.0))
    return nodes + [(0, 0.0, -1, -1, False, float(v)) for v in values]


def _join(trees: list[list[Node]]) -> Forest:
    root = np.cumsum([0, *map(len, trees)])[:-1]
    nodes = [node for tree in trees for node in tree]
    shift = np.repeat(root, [len(tree) for tree in trees])
    feature, threshold, left, right, missing, value = zip(*nodes, strict=True) if nodes else ((),) * 6
    down, up = np.array(left, np.int64), np.array(right, np.int64)
    return Forest(
        root=root.astype(np.int64),
        feature=np.array(feature, np.int64),
        threshold=np.array(threshold, np.float64),
        left=np.where(down >= 0, down + shift, -1),
        right=np.where(up >= 0, up + shift, -1),
        missing_left=np.array(missing, bool),
        value=np.array(value, np.float64),
    )
