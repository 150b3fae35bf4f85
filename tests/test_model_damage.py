"""A damaged model is refused, or ranks with finite scores: it never reads beyond what it learned."""

import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from conftest import random_dataset, suited
from juryrank.errors import DataError, MissingExtraError
from juryrank.methods import METHODS, method
from juryrank.methods.base import Aggregator
from juryrank.methods.learned_fields import learned_kinds
from juryrank.models import save

CASES = int(os.environ.get("JURYRANK_DAMAGE", "15"))  # of each model; 400 take two minutes
LEARNING = [name for name, cls in METHODS.items() if learned_kinds(cls)]
OTHERS = {
    "jury-hybrid": ("jury", {"experts": "hybrid", "threshold": 30}),
    "lambdarank-hidden": ("lambdarank", {"hidden": 3, "layers": 2}),
    "svd-lambdarank-two": ("svd-lambdarank", {"rank": 2}),
    "boosted-features": ("boosted", {"least": 2, "item_features": True}),
    "auto-blend": ("auto", {"among": "blend"}),
}


def fitted(name: str, **params: object) -> Aggregator:
    model = method(name, **params)
    return model.fit(suited(model, random_dataset(0)))


@pytest.mark.parametrize("name", METHODS)
def test_every_learned_field_is_declared(name):
    assert [f.name for f in fields(METHODS[name]) if f.name.endswith("_")] == list(learned_kinds(METHODS[name]))


@pytest.mark.parametrize("name", [*LEARNING, *OTHERS])
def test_an_array_of_another_shape_or_kind_is_refused(name):
    known, params = OTHERS.get(name, (name, {}))
    model = fitted(known, **params)
    state = model.learned()
    for field, value in state.items():
        if not isinstance(value, np.ndarray):
            continue
        wrong = [value.astype(np.complex128), value[None], value.tolist()]
        for axis in range(value.ndim):
            wrong += (
                [np.delete(value, 0, axis), np.concatenate([value, np.take(value, [0], axis)], axis)]
                if value.size
                else []
            )
        if value.dtype == np.float64 and value.size:
            wrong += [np.full_like(value, bad) for bad in (np.nan, np.inf)]
        for other in wrong:
            if field == "root_" and np.shape(other) != value.shape and getattr(other, "dtype", None) == np.int64:
                continue  # a forest may have any number of trees
            with pytest.raises(DataError, match=r"_ must .*; the model is damaged"):
                type(model).from_learned(model.params(), {**state, field: other})


def test_no_damage_is_silent_leads_out_of_bounds_or_hangs(tmp_path):
    for name, (known, params) in {**{name: (name, {}) for name in METHODS}, **OTHERS}.items():
        try:
            save(fitted(known, **params), tmp_path / f"{name}.json")
        except MissingExtraError:
            continue
    command = [sys.executable, str(Path(__file__).with_name("model_damage.py")), str(tmp_path), str(CASES)]
    environment = {**os.environ, "UNCOMPILED_KERNELS": "1"}  # numpy then checks every index
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    counted = re.findall(r"(?:refused|scored)': (\d+)", done.stdout)
    assert sum(map(int, counted)) == CASES * len(list(tmp_path.iterdir()))
