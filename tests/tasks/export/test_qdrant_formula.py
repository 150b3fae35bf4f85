"""The points of a model as a formula of Qdrant: computed here by a small interpreter, from 1 / rank."""

import json
import math

import pytest

from conftest import random_dataset
from juryrank.methods import method
from juryrank.tasks.export import export, position_table


def value(expression, scores):
    if isinstance(expression, str):
        return scores[expression]
    if not isinstance(expression, dict):
        return float(expression)
    ((operation, operand),) = expression.items()
    if operation in ("sum", "mult"):
        values = [value(part, scores) for part in operand]
        return math.fsum(values) if operation == "sum" else math.prod(values)
    if operation == "div":
        right = value(operand["right"], scores)
        return value(operand["left"], scores) / right if right else operand["by_zero_default"]
    return {"ln": math.log, "abs": abs}[operation](value(operand, scores))


MODELS = [
    ("jury", {}),
    ("jury", {"prior": "equal"}),
    ("ridge", {}),
    ("rrf", {}),
    ("rrf", {"k": 3.0, "weights": {"e1": 2.5}}),
    ("rrf", {"dialect": "qdrant", "weights": {"e1": 2.5}}),
    ("dowdall", {}),
    ("rbc", {}),
    ("lambdarank", {}),
]


@pytest.mark.parametrize(("name", "params"), MODELS, ids=str)
@pytest.mark.parametrize("depth", [1, 2, 20])
def test_the_formula_gives_the_points_of_every_rank_and_nothing_for_points_that_are_not_listed(name, params, depth):
    data = random_dataset(2, ties=False)
    model = method(name, **params).fit(data)
    table = position_table(model, data.experts, depth)
    request = json.loads(export(model, "qdrant-formula", data=data, depth=depth))["request"]
    assert [part["prefetch"][0]["query"] for part in request["prefetch"]] == [f"<query of {e}>" for e in table.experts]
    formula, defaults = request["query"]["formula"], request["query"]["defaults"]
    largest = abs(table.points).max()
    for n in range(len(table.experts)):
        for rank in range(1, depth + 1):
            found = value(formula, {**defaults, f"$score[{n}]": 1 / rank})
            assert found == pytest.approx(table.points[n, rank - 1], abs=1e-9 * largest)
    assert value(formula, defaults) == 0


def test_the_formula_of_jury_is_short():
    data = random_dataset(2, ties=False)
    request = json.loads(export(method("jury").fit(data), "qdrant-formula", depth=100))["request"]
    assert len(request["query"]["formula"]["sum"]) <= 4 * len(data.experts)
    assert all(part["limit"] == part["prefetch"][0]["limit"] == 100 for part in request["prefetch"])
    assert all(part["query"] == {"rrf": {"k": 1}} for part in request["prefetch"])
