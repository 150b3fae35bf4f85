"""Reading files query by query: TREC runs and Parquet tables, in any number, larger than memory.

One pass records the positions of each query (``index``); then any queries can be read separately. The lines of a query
should be consecutive.
"""

from juryrank.scan.index import QueryFiles

__all__ = ["QueryFiles"]
