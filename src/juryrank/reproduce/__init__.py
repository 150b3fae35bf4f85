"""What the papers did, done again: each experiment beside its published numbers."""

from juryrank.reproduce import cikm2013
from juryrank.reproduce.experiment import Context, Experiment
from juryrank.reproduce.run import Outcome, chosen, run

__all__ = ["EXPERIMENTS", "Context", "Experiment", "Outcome", "chosen", "run"]

LISTS = ("MQ2008-agg", "MQ2007-agg")

EXPERIMENTS: tuple[Experiment, ...] = (*cikm2013.experiments(LISTS),)
