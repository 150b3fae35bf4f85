"""The overview: the experts, how redundant they are, what was learned of them, and the verdict."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.errors import JuryrankError
from juryrank.methods.learned.jury import Jury
from juryrank.studio.assessment import Assessment, WholeFit, describe_verdict
from juryrank.studio.background import Known
from juryrank.studio.studio import Snapshot, Studio
from juryrank.tasks.explain.redundancy import Redundancy, redundancy
from juryrank.tasks.judge.advice import FEWEST_QUERIES, JudgingAdvice

CURVE_RANKS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)
LABELS = "labels"  # what is being read at the start


class Overview:
    """What is known at present; what is still computed is left out, or of an earlier version."""

    def __init__(self, studio: Studio, assessment: Assessment) -> None:
        self._studio, self._facts, self._assessment = studio, studio.facts, assessment

    def show(self) -> dict[str, Any]:
        """Everything that is known at present, and the names of what is not ready."""
        now = self._studio.refresh()
        found = {"redundancy": self._redundancy()}
        if now.enough:
            ours = self._assessment
            found.update(
                verdict=ours.fit(now), quality=ours.quality(now), advice=ours.advice(now),
                learning_curve=ours.learning_curve(now),
            )  # fmt: skip
        results = {name: None if isinstance(k.result, JuryrankError) else k.result for name, k in found.items()}
        shown: Redundancy | None = results["redundancy"]
        working = [name for name, known in found.items() if known.working]
        if not self._studio.is_ready:
            working.append(LABELS)
        return {
            "experts": self._experts(now, shown, results.get("quality") or {}),
            "redundancy": None if shown is None else {"experts": shown.experts, "matrix": shown.share.tolist()},
            "verdict": self._verdict(results.get("verdict")),
            "learning_curve": results.get("learning_curve"),
            "advice": self._advice(now, results.get("advice")),
            "enough": self._studio.enough(now),
            "version": now.version,
            "working": working,
        }

    def _redundancy(self) -> Known:
        r = self._studio.material.data.rankings
        return self._studio.background.get("redundancy", 0, lambda: redundancy(r))

    def _experts(
        self, now: Snapshot, shown: Redundancy | None, quality: dict[str, dict[str, float]]
    ) -> list[dict[str, Any]]:
        return [
            {
                **expert,
                "agreement": None if shown is None else _agreement(shown, k),
                "quality": quality.get(expert["name"]),
                "curve": None if now.model is None else self._curve(now.model, expert["name"]),
            }
            for k, expert in enumerate(self._facts.experts)
        ]

    def _curve(self, model: Jury, expert: str) -> list[dict[str, float]]:
        """What the model gives an item at each rank of the expert's list."""
        formula = model.formula()
        assert formula is not None
        ranks = np.array([rank for rank in CURVE_RANKS if rank <= max(2, self._facts.longest)], np.float64)
        values = formula.of(expert, ranks)
        return [{"rank": int(rank), "points": float(value)} for rank, value in zip(ranks, values, strict=True)]

    @staticmethod
    def _verdict(whole: WholeFit | None) -> dict[str, Any] | None:
        return None if whole is None or whole.verdict is None else describe_verdict(whole.verdict)

    def _advice(self, now: Snapshot, advice: JudgingAdvice | None) -> dict[str, Any] | None:
        if advice is not None:  # the gain so far is that of the verdict
            return {"text": advice.outlook, "enough": advice.enough}
        if now.enough or not self._studio.is_ready:
            return None
        missing = FEWEST_QUERIES - now.n_learned
        more = f"{missing} more {'query' if missing == 1 else 'queries'}"
        return {"text": f"Go on: nothing can be said before a relevant item is found in {more}.", "enough": False}


def _agreement(found: Redundancy, expert: int) -> float | None:
    """The mean agreement with the other experts; None if no pair of items is ordered by both."""
    others = np.delete(found.share[expert], expert)
    return None if np.isnan(others).all() else float(np.nanmean(others))
