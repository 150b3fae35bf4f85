"""The history of an iteration as a picture."""

from collections.abc import Mapping, Sequence

from juryrank.errors import DataError, MissingExtraError


def picture(history: Mapping[str, Sequence[float]], path: str) -> None:
    """Draw the objective by step and, beside it, everything else that was watched."""
    if "objective" not in history:
        raise DataError("there is no history to draw; fit with coefficients='shared'")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'juryrank[plots]'") from None
    watched = [name for name in history if name != "objective"]
    figure = Figure(figsize=(4.5 * (1 + bool(watched)), 3.2), layout="constrained")
    axes = figure.subplots(1, 1 + bool(watched), squeeze=False)[0]
    axes[0].plot(history["objective"], color="black", marker=".")
    axes[0].set(xlabel="step", ylabel="objective")
    for name in watched:
        axes[1].plot(history[name], marker=".", label=name)
    if watched:
        axes[1].set(xlabel="step", ylabel="Kendall's tau", ylim=(None, 1.02))
        axes[1].legend()
    figure.savefig(path)
