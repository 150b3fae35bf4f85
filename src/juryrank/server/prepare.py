"""What is done once before the workers start: the store is checked, and compiled code is in its cache."""

from __future__ import annotations

import warnings

from juryrank.errors import DataError, JuryrankError, JuryrankWarning
from juryrank.methods import METHODS
from juryrank.server.logs import log
from juryrank.server.problems import Problem
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from juryrank.server.store_address import address_of, make_store

QUERIES = 6


def check_store(settings: Settings) -> None:
    """Create the store if it is missing; a DataError if it cannot be used."""
    if (address := address_of(settings)) is None:
        return
    try:
        with make_store(address, settings.store_seconds):
            pass
    except Problem as problem:
        raise DataError(f"the store of feedback cannot be used: {problem.__cause__ or problem}") from None


def warm(registry: Registry) -> None:
    """Use each model once, and learn once what refits would learn, so that no worker has to compile."""
    from juryrank.data.build import from_dicts

    lists = {expert: {f"q{n}": ["a", "b", "c"] for n in range(QUERIES)} for expert in ("one", "two")}
    data = from_dicts(lists, labels={f"q{n}": {"a": n % 2, "b": 1, "c": 0} for n in range(QUERIES)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        for name in registry.names():
            try:
                served = registry.get(name)
                served.model.predict(data, warn_unknown=False)
                if hasattr(served.model, "partial_fit"):
                    METHODS[served.model.name]().fit(data)
            except JuryrankError as error:
                log.debug("model %s was not used before the start: %s", name, error)
