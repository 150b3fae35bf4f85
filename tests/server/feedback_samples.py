"""Feedback made of real data: the topics of the demo, each with the lists of its systems and its judgements."""

from functools import cache
from importlib.resources import files

from juryrank.cli.demo import read_demo
from juryrank.data.build import from_dicts
from juryrank.kernels.ragged import parents
from juryrank.models import fit, to_json

MODEL = (files("juryrank") / "demo" / "trec-covid" / "model.json").read_bytes()


@cache
def lists_by_query():
    """The lists of each topic, without the gaps of the excerpt."""
    r, found = read_demo().rankings, {}
    for place, query in enumerate(parents(r.list_ptr)):
        entries = slice(r.entry_ptr[place], r.entry_ptr[place + 1])
        items = r.items[r.slot_item[r.entry_slot[entries]]].tolist()
        found.setdefault(r.queries[query], {})[r.experts[r.list_expert[place]]] = items
    return found


@cache
def labels_by_query():
    labels, found = read_demo().labels, {}
    rows = zip(parents(labels.label_ptr), labels.items[labels.label_item], labels.label_value, strict=True)
    for query, item, label in rows:
        found.setdefault(labels.queries[query], {})[item] = max(float(label), 0.0)
    return found


@cache
def demo():
    """The same as a Dataset."""
    runs = {}
    for query, lists in lists_by_query().items():
        for expert, items in lists.items():
            runs.setdefault(expert, {})[query] = items
    return from_dicts(runs, labels=labels_by_query())


def entry(query, **changes):
    """The feedback about one topic."""
    given = {"query": query, "lists": lists_by_query()[query], "labels": labels_by_query()[query], "key": query}
    return {**given, **changes}


def fitted(queries, method="jury", **params):
    """A model file that was fitted to some of the topics."""
    places = [demo().queries.index(query) for query in queries]
    return to_json(fit(demo()[places], method, **params)).encode()
