"""The history of an iteration as a plot."""

from collections.abc import Mapping, Sequence

from juryrank.errors import DataError
from juryrank.io.pictures import saved_drawing


def draw_history(history: Mapping[str, Sequence[float]], path: str) -> None:
    """Draw the objective by step and, beside it, all other values of the history."""
    if "objective" not in history:
        raise DataError("there is no history to draw; fit with coefficients='shared'")
    others = [name for name in history if name != "objective"]
    with saved_drawing(path, 4.5 * (1 + bool(others)), 3.2) as figure:
        axes = figure.subplots(1, 1 + bool(others), squeeze=False)[0]
        axes[0].plot(history["objective"], color="black", marker=".")
        axes[0].set(xlabel="step", ylabel="objective")
        for name in others:
            axes[1].plot(history[name], marker=".", label=name)
        if others:
            axes[1].set(xlabel="step", ylabel="Kendall's tau", ylim=(None, 1.02))
            axes[1].legend()
