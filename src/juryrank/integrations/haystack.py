"""Haystack (haystack-ai 3.x): a joiner with an input for each expert, and a retriever that runs and fuses retrievers.

::

    JuryJoiner(experts=["bm25", "dense"], model="model.json")
    JuryRetriever(retrievers={"bm25": bm25, "dense": dense}, model="model.json", on_error="skip", timeout=2.0)

Haystack loads only components of ``haystack_integrations`` from YAML, so they are defined there.
"""

from juryrank.errors import MissingExtraError

try:
    from haystack_integrations.components.joiners.juryrank import JuryJoiner
    from haystack_integrations.components.retrievers.juryrank import JuryRetriever
except ImportError as error:
    raise MissingExtraError.of("haystack", "juryrank.integrations.haystack needs haystack-ai") from error

__all__ = ["JuryJoiner", "JuryRetriever"]
