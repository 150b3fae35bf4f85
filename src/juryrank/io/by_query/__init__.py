"""Reading files query by query: TREC runs and Parquet tables, in any number, larger than memory.

One pass records where each query stands (``index``); then any queries can be read on their own. The lines of a query
should stand together.
"""

from juryrank.io.by_query.index import QueryFiles

__all__ = ["QueryFiles"]
