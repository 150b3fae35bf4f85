"""Methods with the settings that measured numbers are of, where the defaults have changed since."""

from __future__ import annotations

from typing import Any

import juryrank as jr


def learner(name: str, **params: Any) -> Any:
    """A method that, if it learns from labels, takes unjudged items for not relevant unless the parameters say else."""
    known = jr.method(name).params()
    return jr.method(name, **{**({"unjudged": "irrelevant"} if "unjudged" in known else {}), **params})
