"""OpenSearch: fusion of the answers of several searches, with the exact points of a model.

The weights of a model for the RRF of the engine itself are written by ``export(model, "opensearch", data=...)``.
"""

from juryrank.integrations._hits import fuse_hits

__all__ = ["fuse_hits"]
