"""PyTerrier: a fusion of retrievers, or of the features of a pipeline, that learns from qrels.

Checked with pyterrier 1.1. Nothing here needs Java.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from numbers import Real
from typing import Any

from juryrank.errors import DataError, MissingExtraError, NotFittedError, ParameterError
from juryrank.integrations._retrieval import (
    Model,
    OnError,
    collect_in_turn,
    demand_policy,
    demand_weights_of,
    make_method,
)
from juryrank.methods import Aggregator
from juryrank.models import fit, labelled_dataset
from juryrank.tasks.fuse import Fuser

try:
    import pyterrier as pt

    from juryrank.integrations import _pyterrier_frames as frames
except ImportError as error:
    raise MissingExtraError.of("pyterrier", "juryrank.integrations.pyterrier needs pyterrier") from error

NO_HELP = {"help_url": None}  # else PyTerrier downloads an index of its own pages, in which we are not


class _Fusion(pt.Estimator):
    """What both estimators share: the method, its fit, and the fusion of the lists of all queries of a frame."""

    def __init__(self, names: Sequence[str], method: str | None, model: Model | None, params: dict[str, Any]) -> None:
        if len(set(names)) < len(names):
            raise ParameterError(f"each expert needs a name of its own, got {', '.join(names)}")
        self.method, self.model, self.params = method, model, params
        self._aggregator = make_method(model, method, "jury", **params)
        demand_weights_of(names, params.get("weights"), "expert")
        self._fuser: Fuser | None = None

    @property
    def model_(self) -> Aggregator:
        """The fitted method; a NotFittedError before ``fit`` for methods that learn from labels."""
        if self._aggregator.supervised and not self._aggregator.is_fitted:
            raise NotFittedError(
                f"{self._aggregator.name} learns from qrels: call fit(topics, qrels) before transform, give model=, "
                "or use a method that does not learn, such as method='rrf'"
            )
        return self._aggregator

    def fit(self, topics_or_res_tr: Any, qrels_tr: Any, topics_or_res_va: Any = None, qrels_va: Any = None) -> _Fusion:
        """Learn from qrels; the validation topics are for methods that use some. Experts are not fitted."""
        if (topics_or_res_va is None) != (qrels_va is None):
            raise DataError("validation needs both, topics and qrels; got only one of them")
        train = self._labelled(topics_or_res_tr, qrels_tr)
        valid = None if topics_or_res_va is None else self._labelled(topics_or_res_va, qrels_va)
        self._aggregator = fit(train, self._aggregator, valid=valid)
        self._fuser = None
        return self

    def _labelled(self, topics_or_res: Any, qrels: Any) -> Any:
        frames.demand_frame(topics_or_res, "topics")
        lists = self._training_lists(topics_or_res)
        if not any(lists.values()):
            raise DataError(
                f"fit needs results: no expert returned any document for {len(topics_or_res)} rows of input"
            )
        if not self._aggregator.supervised:
            return labelled_dataset(lists)
        return labelled_dataset(lists, frames.labels_of(qrels))

    def _training_lists(self, topics_or_res: Any) -> frames.Runs:
        raise NotImplementedError

    def _prepared(self) -> Fuser:
        """The Fuser of the fitted method."""
        if self._fuser is None:
            self._fuser = Fuser(self.model_)
        return self._fuser

    def get_parameter(self, name: str) -> Any:
        """A parameter of the method, or an attribute; for ``pt.GridSearch``."""
        own = self._own_parameters()
        return own[name] if name in own else super().get_parameter(name)

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter of the method, or an attribute. A method that learns must be fitted again."""
        own = self._own_parameters()
        if name not in own:
            super().set_parameter(name, value)
            return
        self.params = {**self.params, name: value}
        self._aggregator = make_method(None, self.method, "jury", **self.params)
        self._fuser = None

    def _own_parameters(self) -> dict[str, Any]:
        return self._aggregator.params() if self.model is None else {}

    # PyTerrier hashes the text of a transformer, which must not change with a parameter.
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        given = {"method": self.method, "model": self.model, **self.params}
        options = [f", {name}={value!r}" for name, value in given.items() if value is not None]
        return f"{type(self).__name__}({', '.join(self._names())}{''.join(options)})"

    def _names(self) -> Sequence[str]:
        raise NotImplementedError


class JuryFusion(_Fusion):
    """Retrievers, or pipelines, fused by a method of juryrank.

    ``experts`` are transformers by name; each gets the input, topics or results, and returns results. ``method`` is the
    name of a method, with its parameters (jury by default, which learns in ``fit``); ``model`` is a fitted method or
    the path of a saved model instead. ``on_error``: "raise" if an expert fails, or "skip" it with a warning; ``fit``
    always raises.

    The result has the columns of the input, docno, the columns of the experts that describe a document (of the first
    expert that has a value), score and rank. A document is identified by its docno.
    """

    def __init__(
        self,
        experts: Mapping[str, Any],
        *,
        method: str | None = None,
        model: Model | None = None,
        on_error: OnError = "raise",
        **params: Any,
    ) -> None:
        self.experts = _transformers(experts)
        super().__init__(list(map(str, experts)), method, model, params)
        demand_policy(on_error, None)
        self.on_error: OnError = on_error

    def transform(self, inp: Any) -> Any:
        """The fused results of the topics, or of the results, in ``inp``."""
        pt.validate.columns(inp, includes=["qid"], context=self)
        if not len(inp):
            return frames.empty(self.transform_outputs(list(inp.columns)))
        fuser = self._prepared()  # an error before the experts are asked
        results = self._results(inp, self.on_error)
        fused = fuser({name: frames.lists_of(frame, name) for name, frame in results.items()})
        return frames.assemble(inp, fused, list(results.values()))

    def _training_lists(self, topics_or_res: Any) -> frames.Runs:
        pt.validate.columns(topics_or_res, includes=["qid"], context=self)
        results = self._results(topics_or_res, "raise")
        return {name: frames.lists_of(frame, name) for name, frame in results.items()}

    def _results(self, inp: Any, on_error: OnError) -> dict[str, Any]:
        """The results of each expert, one after the other: transformers may not be called from several threads."""
        calls = {name: partial(_run, name, expert, inp) for name, expert in self.experts.items()}
        return {name: frame for name, (frame,) in collect_in_turn(calls, on_error=on_error).lists.items()}

    def transform_inputs(self) -> list[list[str]]:
        """Columns that all experts accept."""
        known = [pt.inspect.transformer_inputs(expert) for expert in self.experts.values()]
        together = list(dict.fromkeys(["qid", *(column for modes in known for column in modes[0])]))
        modes = [together, *(list(dict.fromkeys(["qid", *mode])) for modes in known for mode in modes)]
        return [mode for n, mode in enumerate(modes) if mode not in modes[:n] and self._accepts(mode)]

    def _accepts(self, columns: list[str]) -> bool:
        return all(
            pt.inspect.transformer_outputs(expert, columns, strict=False) is not None
            for expert in self.experts.values()
        )

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """The columns of the result."""
        pt.validate.columns(input_columns, includes=["qid"], context=self)
        known = [pt.inspect.transformer_outputs(expert, input_columns) for expert in self.experts.values()]
        return frames.Columns.of(input_columns, known).all

    def subtransformers(self) -> dict[str, Any]:
        """The experts, by name."""
        return dict(self.experts)

    schematic = {"label": "JuryFusion", "inner_pipelines_mode": "linked", **NO_HELP}

    def _names(self) -> Sequence[str]:
        return list(self.experts)


def _run(name: str, expert: Any, inp: Any) -> list[Any]:
    """The results of an expert; the copy is for transformers that write into their input."""
    return [frames.results_of(expert.transform(inp.copy()), name, inp)]


def _transformers(experts: Mapping[str, Any]) -> dict[str, Any]:
    """The experts, checked."""
    if not isinstance(experts, Mapping) or not experts:
        raise ParameterError(f"experts must be transformers by name, such as {{'bm25': bm25}}; got {experts!r:.100}")
    for name, expert in experts.items():
        if not isinstance(expert, pt.Transformer):
            advice = "; use pt.Transformer.from_df" if hasattr(expert, "columns") else ""
            kind = type(expert).__name__
            raise ParameterError(f"experts[{name!r}] must be a PyTerrier transformer, got {kind}{advice}")
    return {str(name): expert for name, expert in experts.items()}


class JuryFeatureFusion(_Fusion):
    """The features of a pipeline, read as the scores of experts and fused by a method of juryrank.

    ``experts`` names the features, in their order: ``(bm25 | dense) >> (bm25 ** dense) >>
    JuryFeatureFusion(["bm25", "dense"])``. ``method``, ``model`` and parameters are those of ``JuryFusion``. A feature
    that is ``missing_value`` says that the expert does not list the document: the operator ``**`` gives 0 to documents
    that a transformer does not return. NaN is always missing; with None, nothing else is.

    All documents of the input are ranked, those that no expert lists at the end.
    """

    def __init__(
        self,
        experts: Sequence[str],
        *,
        method: str | None = None,
        model: Model | None = None,
        missing_value: float | None = 0.0,
        **params: Any,
    ) -> None:
        if isinstance(experts, str | Mapping) or not isinstance(experts, Iterable) or not [*experts]:
            raise ParameterError(f"experts must be names of the features, all different; got {experts!r:.100}")
        self.experts = [str(name) for name in experts]
        super().__init__(self.experts, method, model, params)
        if isinstance(missing_value, bool) or not isinstance(missing_value, Real | None):
            raise ParameterError(f"missing_value must be a number or None, got {missing_value!r}")
        self.missing_value = missing_value

    def transform(self, inp: Any) -> Any:
        """The documents of ``inp`` in the order of the fused ranking."""
        pt.validate.result_frame(inp, extra_columns=["features"], context=self)
        if not len(inp):
            return frames.empty(self.transform_outputs(list(inp.columns)))
        return frames.rerank(inp, self._prepared()(self._lists(inp)))

    def _training_lists(self, topics_or_res: Any) -> frames.Runs:
        pt.validate.result_frame(topics_or_res, extra_columns=["features"], context=self)
        return self._lists(topics_or_res)

    def _lists(self, inp: Any) -> frames.Runs:
        return frames.feature_lists(inp, self.experts, self.missing_value)

    def transform_outputs(self, input_columns: list[str]) -> list[str]:
        """The columns of the result: those of the input, then score and rank."""
        pt.validate.result_frame(input_columns, extra_columns=["features"], context=self)
        return [*(column for column in input_columns if column not in frames.RANKED), *frames.RANKED]

    schematic = {"label": "JuryFeatureFusion", **NO_HELP}

    def _names(self) -> Sequence[str]:
        return self.experts
