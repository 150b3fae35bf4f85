"""What the adapters share: calls of several retrievers at once, failures, identity of documents, fusion."""

import asyncio
import threading
import warnings
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, JuryrankError, ParameterError, RetrieverError, RetrieverWarning
from juryrank.integrations._documents import DocumentFusion, Identity
from juryrank.integrations._retrieval import acollect, collect, demand_policy, make_fuser


@dataclass
class Doc:
    id: Any = None
    text: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    score: float | None = None


def identity(key=None):
    return Identity(key, id_of=attrgetter("id"), metadata_of=attrgetter("meta"), text_of=attrgetter("text"))


def docs(*ids):
    return [Doc(each) for each in ids]


def fail():
    raise ValueError("no\nconnection")


async def fail_async():
    fail()


def in_both_ways(calls, **options):
    """The result of threads, which must be that of coroutines."""

    def as_coroutine(call):
        async def run():
            return call()

        return run

    def outcome(get):
        try:
            return get()
        except JuryrankError as error:
            return str(error)

    sync = outcome(lambda: collect(calls, **options))
    own = outcome(lambda: asyncio.run(acollect({n: as_coroutine(c) for n, c in calls.items()}, **options)))
    assert sync == own
    return sync


def test_lists_come_in_the_order_of_the_calls():
    found = in_both_ways({"slow": lambda: (1, 2), "fast": lambda: [3]})
    assert list(found.lists.items()) == [("slow", [1, 2]), ("fast", [3])]
    assert found.failed == {}


def test_calls_in_threads_run_at_the_same_time():
    meeting = threading.Barrier(3, timeout=10)  # each waits for the others
    found = collect({name: lambda: [meeting.wait() >= 0] for name in "abc"})
    assert found.lists == {name: [True] for name in "abc"}


async def test_coroutines_run_at_the_same_time():
    arrived = []
    everyone = asyncio.Event()

    async def wait():
        arrived.append(1)
        if len(arrived) == 3:
            everyone.set()
        await asyncio.wait_for(everyone.wait(), 10)
        return [1]

    assert (await acollect(dict.fromkeys("abc", wait))).lists == {name: [1] for name in "abc"}


def test_a_failure_is_an_error_that_names_the_retriever_and_keeps_the_cause():
    text = in_both_ways({"good": lambda: [1], "bad": fail})
    assert text == "retriever 'bad' failed: ValueError: no connection (on_error='skip' would go on without it)"
    with pytest.raises(RetrieverError) as caught:
        collect({"bad": fail})
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_failure_is_raised_while_another_call_still_runs():
    never = threading.Event()
    with pytest.raises(RetrieverError, match="'bad' failed"):
        collect({"slow": lambda: [never.wait(60)], "bad": fail})
    never.set()


async def test_after_a_failure_the_other_coroutines_are_cancelled():
    cancelled = []

    async def slow():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("slow")
            raise

    with pytest.raises(RetrieverError, match="'bad' failed"):
        await acollect({"slow": slow, "bad": fail_async})
    await asyncio.sleep(0)
    assert cancelled == ["slow"]


@pytest.mark.filterwarnings("ignore::juryrank.errors.RetrieverWarning")
def test_a_failure_that_is_skipped_is_reported():
    found = in_both_ways({"good": lambda: [1], "bad": fail}, on_error="skip")
    assert found.lists == {"good": [1]}
    assert found.failed == {"bad": "ValueError: no connection"}
    with pytest.warns(RetrieverWarning, match="'bad' failed, and the result is without it: ValueError: no connection"):
        collect({"good": lambda: [1], "bad": fail}, on_error="skip")


def test_if_all_fail_it_is_an_error():
    text = in_both_ways({"one": fail, "two": fail}, on_error="skip")
    assert text == "all retrievers failed: 'one': ValueError: no connection; 'two': ValueError: no connection"


def test_a_call_that_takes_too_long_has_failed():
    never = threading.Event()
    with pytest.warns(RetrieverWarning, match=r"'slow' failed.*no answer within 0.05 s"):
        found = collect({"slow": lambda: [never.wait(60)], "fast": lambda: [1]}, on_error="skip", timeout=0.05)
    assert found.lists == {"fast": [1]}
    with pytest.raises(RetrieverError, match=r"'slow' failed: TimeoutError: no answer within 0.05 s"):
        collect({"slow": lambda: [never.wait(60)]}, timeout=0.05)
    never.set()


async def test_a_coroutine_that_takes_too_long_is_cancelled():
    async def fast():
        return [1]

    async def slow():
        await asyncio.sleep(60)
        return [2]

    with pytest.warns(RetrieverWarning, match=r"'slow' failed.*no answer within 0.05 s"):
        found = await acollect({"slow": slow, "fast": fast}, on_error="skip", timeout=0.05)
    assert found.lists == {"fast": [1]}
    with pytest.raises(RetrieverError, match="no answer within"):
        await acollect({"slow": slow, "fast": fast}, timeout=0.05)


def test_what_is_no_list_is_a_failure():
    assert "must return a list of documents, got str" in in_both_ways({"text": lambda: "a"})
    assert "must return a list of documents, got NoneType" in in_both_ways({"nothing": lambda: None})


def test_ctrl_c_is_no_failure_of_a_retriever():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collect({"one": interrupted, "two": lambda: [1]}, on_error="skip")


def test_policies_that_have_no_meaning_are_refused():
    with pytest.raises(ParameterError, match="on_error must be 'raise' or 'skip', got 'ignore'"):
        demand_policy("ignore", None)
    for timeout in (0, -1, "1", True):
        with pytest.raises(ParameterError, match="timeout is a number of seconds"):
            demand_policy("skip", timeout)


def test_a_model_or_a_method_and_not_both(tmp_path):
    model = juryrank.fit("src/juryrank/demo/cooking.csv", "jury")
    juryrank.save(model, tmp_path / "saved")
    lists = {"bm25": ["a", "b"], "title": ["b"]}
    expected = juryrank.fuse(lists, model=model)
    assert make_fuser(model)(lists) == make_fuser(tmp_path / "saved")(lists) == expected
    assert make_fuser(str(tmp_path / "saved"))(lists) == expected
    assert make_fuser()(lists) == juryrank.fuse(lists)
    assert make_fuser(None, "rrf", k=5, weights=None)(lists) == juryrank.fuse(lists, "rrf", k=5)
    with pytest.raises(ParameterError, match="not both"):
        make_fuser(model, "rrf")
    with pytest.raises(ParameterError, match="not both"):
        make_fuser(model, weights={"bm25": 1.0})


def test_a_name_without_slash_is_the_path_of_a_model(tmp_path, monkeypatch):
    juryrank.save(juryrank.fit("src/juryrank/demo/cooking.csv", "jury"), tmp_path / "rrf")
    monkeypatch.chdir(tmp_path)
    assert "Jury" in repr(make_fuser("rrf"))


def test_identity_is_the_id_or_the_text_but_never_a_mixture():
    assert identity().keys_of({"a": docs("x", "y"), "b": docs(7)}) == {"a": ["x", "y"], "b": ["7"]}
    assert identity().keys_of({"a": [Doc(text="t")], "b": []}) == {"a": ["t"], "b": []}
    with pytest.raises(DataError, match=r"documents of 'b' have no id and others have one.*give key="):
        identity().keys_of({"a": docs("x"), "b": [Doc(text="t")]})


def test_identity_by_a_field_or_a_function():
    given = {"a": [Doc("1", meta={"url": "u"}), Doc("2", meta={"url": "v"})], "b": [Doc("3", meta={"url": "v"})]}
    assert identity("url").keys_of(given) == {"a": ["u", "v"], "b": ["v"]}
    assert identity(lambda doc: doc.meta["url"] * 2).keys_of(given) == {"a": ["uu", "vv"], "b": ["vv"]}
    with pytest.raises(DataError, match=r"'a': the document at rank 2 has no identity: the metadata field 'url'"):
        identity("url").keys_of({"a": [given["a"][0], Doc("9")]})
    with pytest.raises(DataError, match="the id is missing or None"):
        identity("id").keys_of({"a": [Doc()]})
    with pytest.raises(ParameterError, match="key is 'id', 'text', the name of a metadata field or a function, got 3"):
        identity(3)


def test_documents_are_fused_as_their_ids_are():
    lists = {"bm25": docs("a", "b", "c"), "dense": docs("c", "d")}
    fused = DocumentFusion(juryrank.Fuser("rrf"), identity()).fuse(lists)
    expected = juryrank.fuse({"bm25": ["a", "b", "c"], "dense": ["c", "d"]})
    assert [(each.document.id, each.score) for each in fused] == list(expected.items())
    assert fused[0].document is lists["dense"][0]  # where its rank is best
    assert fused[0].ranks == {"bm25": 3, "dense": 1}
    assert fused[0].contributions == pytest.approx({"bm25": 1 / 63, "dense": 1 / 61})
    assert len(DocumentFusion(juryrank.Fuser("rrf"), identity()).fuse(lists, 2)) == 2


@pytest.mark.parametrize("seed", range(20))
def test_documents_come_from_the_list_with_the_best_rank_whether_all_are_wanted_or_few(seed):
    rng = np.random.default_rng(seed)
    ids = {name: [f"d{i}" for i in rng.permutation(40)[: rng.integers(0, 40)]] for name in ("x", "y", "z")}
    lists = {name: [Doc(each, text=name) for each in listed] for name, listed in ids.items()}
    fusion = DocumentFusion(juryrank.Fuser("rrf"), identity())
    everything = fusion.fuse(lists)
    assert [(each.document.id, each.score) for each in everything] == list(juryrank.fuse(ids).items())
    for each in everything:
        ranks = {name: listed.index(each.document.id) for name, listed in ids.items() if each.document.id in listed}
        assert each.document.text == min(ranks, key=ranks.get)  # of equal ranks, the first list
    assert fusion.fuse(lists, 3) == everything[:3]


@pytest.mark.parametrize("top", [1, None])
def test_a_list_may_be_the_values_of_a_dict_but_nothing_that_is_read_only_once(top):
    given = docs(*"abcdefgh")
    fusion = DocumentFusion(juryrank.Fuser("rrf"), identity())
    fused = fusion.fuse({"x": dict(enumerate(given)).values(), "y": tuple(given)}, top)
    assert [each.document for each in fused] == given[:top]
    with pytest.raises(TypeError, match="not subscriptable"):
        fusion.fuse({"x": iter(given)}, top)


def test_a_fuser_that_explores_is_not_used_without_a_request():
    with pytest.raises(ParameterError, match="request"):
        DocumentFusion(juryrank.Fuser("rrf", explore=0.5), identity()).fuse({"a": docs("x"), "b": docs("y")})


def test_a_repeated_document_counts_once_where_it_is_first():
    lists = {"bm25": [*docs("a", "b"), Doc("a", text="again"), *docs("c")]}
    fused = DocumentFusion(juryrank.Fuser("rrf"), identity()).fuse(lists)
    assert [(each.document.id, each.document.text, each.ranks) for each in fused] == [
        ("a", "", {"bm25": 1}),
        ("b", "", {"bm25": 2}),
        ("c", "", {"bm25": 3}),
    ]


def test_scores_count_only_for_methods_that_use_them():
    lists = {"bm25": [Doc("a", score=1.0), Doc("b", score=3.0)], "dense": [Doc("b", score=0.2), Doc("a", score=0.1)]}
    by_rank = DocumentFusion(juryrank.Fuser("rrf"), identity(), attrgetter("score")).fuse(lists)
    assert by_rank[0].ranks == {"bm25": 1, "dense": 2}
    by_score = DocumentFusion(juryrank.Fuser("combsum"), identity(), attrgetter("score")).fuse(lists)
    expected = juryrank.fuse({"bm25": {"a": 1.0, "b": 3.0}, "dense": {"b": 0.2, "a": 0.1}}, "combsum")
    assert [(each.document.id, each.score) for each in by_score] == list(expected.items())
    assert by_score[0].ranks == {"bm25": 1, "dense": 1}
    assert by_score[0].document is lists["bm25"][1]


def test_the_text_is_the_identity_where_no_field_of_that_name_is():
    given = {"a": [Doc("1", "tea"), Doc("2", "milk")], "b": [Doc("3", "milk")]}
    assert identity("text").keys_of(given) == {"a": ["tea", "milk"], "b": ["milk"]}
    for listed in given.values():
        for doc in listed:
            doc.meta["text"] = f"field {doc.text}"
    assert identity("text").keys_of(given) == {"a": ["field tea", "field milk"], "b": ["field milk"]}
    given["b"][0].meta.clear()
    assert identity("text").keys_of(given) == {"a": ["tea", "milk"], "b": ["milk"]}
    with pytest.raises(DataError, match="the text is missing or None"):
        identity("text").keys_of({"a": [Doc("1", None)]})


def made_up(name: str, texts: str, shared: int = 0) -> list[Doc]:
    """Documents with ids that a store has made up, except for the first."""
    return [Doc(text if n < shared else f"{name}-{n}", text) for n, text in enumerate(texts)]


def fuse_said(lists, key=None, top=None):
    """The number of documents in the result, and what was said."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fused = DocumentFusion(juryrank.Fuser("rrf"), identity(key)).fuse(lists, top)
    return len(fused), [str(each.message) for each in said]


@pytest.mark.parametrize("top", [None, 10, 1])
def test_stores_that_make_up_ids_are_told(top):
    lists = {"x": made_up("x", "abcdefgh"), "y": made_up("y", "hgfedcba")}
    number, said = fuse_said(lists, top=top)
    assert number == (top or 16)
    assert len(said) == 1
    assert "8 texts are in more than one list, and no documents by their id" in said[0]
    assert 'give key="text"' in said[0]
    assert fuse_said(lists, "text", top) == (min(top or 8, 8), [])
    for listed in lists.values():
        for doc in listed:
            doc.meta["url"] = doc.id
    assert "by their metadata field 'url'" in fuse_said(lists, "url")[1][0]
    assert fuse_said(lists, attrgetter("id"))[1] == []  # a function is meant so


def test_two_texts_are_a_sign_only_with_the_same_metadata():
    lists = {"x": [Doc("1", "tea", {"page": 1})], "y": [Doc("2", "tea", {"page": 1})]}
    assert "1 texts with the same metadata are in more than one list, and no documents" in fuse_said(lists)[1][0]


def test_a_single_id_in_common_is_almost_nothing():
    lists = {"x": made_up("x", "abcdefgh", 1), "y": made_up("y", "abcdefgh", 1)}
    assert "8 texts are in more than one list, and 1 documents by their id" in fuse_said(lists)[1][0]


@pytest.mark.parametrize(
    "lists",
    [
        {"x": made_up("x", "abcd"), "y": made_up("y", "efgh")},  # nothing is the same
        {"x": made_up("x", "abcd"), "y": []},
        {"x": made_up("x", "aaaa")},
        {"x": made_up("x", "abcdefgh", 2), "y": made_up("y", "abcdefgh", 2)},
        {"x": [Doc("1", None)], "y": [Doc("2", None)]},
        {"x": [Doc("1", "blank", {"page": 1})], "y": [Doc("2", "blank", {"page": 2})]},
        {},
    ],
    ids=str,
)
def test_lists_that_share_little_are_no_fault(lists):
    assert fuse_said(lists)[1] == []
