"""What the service says of a model: what it learned, from how much, and its held-out gain."""

from __future__ import annotations

from typing import Any

from juryrank.errors import JuryrankError
from juryrank.methods import Aggregator
from juryrank.server.registry import Registry, Served


def summarise(registry: Registry, name: str, fault: str | None) -> dict[str, Any]:
    """One line of the list of models."""
    try:
        served = registry.get(name)
    except JuryrankError as error:
        return {"name": name, "usable": False, "fault": str(error)}
    found: dict[str, Any] = {
        "name": name, "usable": True, "version": served.version, "method": served.model.name,
        "experts": sorted(served.model.experts_seen()), "since": served.since or None,
    }  # fmt: skip
    return found if fault is None else {**found, "fault": fault}


def describe(registry: Registry, name: str, fault: str | None) -> dict[str, Any]:
    """Everything about a model."""
    served = registry.get(name)
    kept = [{"version": each.version, "written": each.written} for each in registry.versions(name)]
    return {
        **summarise(registry, name, fault),
        "size": served.size,
        "params": served.model.params(),
        "weights": served.model.expert_weights(),
        **_evidence(served),
        "versions": kept,
    }


def _evidence(served: Served) -> dict[str, Any]:
    """From how much the model learned, its held-out gain, and its report and verdict, where it has some."""
    model: Aggregator = served.model
    report = getattr(model, "report", None)
    verdict = model.verdict()
    return {
        "learned_queries": getattr(model, "n_queries_", None),
        "learned_experts": len(model.experts_seen()) or None,
        "held_out": _held_out(model),
        "report": None if report is None else str(report()),
        "verdict": None if verdict is None else verdict.to_dict(),
    }


def _held_out(model: Aggregator) -> dict[str, Any] | None:
    """The gain over RRF on queries that were held out, with its standard error and 95 % interval."""
    measure, verdict = getattr(model, "gain_over_rrf", None), model.verdict()
    if measure is None or not (found := measure())[0]:
        return None
    interval = None if verdict is None else verdict.to_dict()["differences"].get("learned - rrf")
    return {
        "metric": getattr(model, "target", None),
        "queries": found[0],
        "gain_over_rrf": found[1],
        "standard_error": found[2],
        "low": None if interval is None else interval["low"],
        "high": None if interval is None else interval["high"],
    }
