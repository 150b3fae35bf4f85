"""The experiments of five papers: measured beside published numbers."""

from studies.papers import cikm2012, cikm2013, evidence, learning, ours, validated, www2007, www2012, www2017
from studies.papers.experiment import Context, Experiment
from studies.papers.run import Outcome, run, select

__all__ = ["EXPERIMENTS", "Context", "Experiment", "Outcome", "run", "select"]

LISTS = ("MQ2008-agg", "MQ2007-agg")

EXPERIMENTS: tuple[Experiment, ...] = (
    *www2007.experiments(LISTS),
    *www2012.experiments(LISTS),
    *cikm2012.experiments(LISTS),
    *cikm2013.experiments(LISTS),
    *www2017.experiments(),
    *validated.EXPERIMENTS,
    *ours.EXPERIMENTS,
    *evidence.EXPERIMENTS,
    *learning.EXPERIMENTS,
)
