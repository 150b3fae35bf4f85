"""fuse_hits, the same for Elasticsearch and OpenSearch: order, identity, incomplete answers and failures."""

import json

import pytest
from engine_lists import held_out

import juryrank
from juryrank.errors import DataError, DataWarning, RetrieverError, RetrieverWarning
from juryrank.integrations import elasticsearch, opensearch
from juryrank.integrations.elasticsearch import fuse_hits


def hits(*ids, index="texts", **more):
    return [
        {"_index": index, "_id": i, "_score": 9.0 - n, "_source": {"name": f"{i}!"}} | more for n, i in enumerate(ids)
    ]


def answer(*ids, index="texts", **more):
    shards = {"total": 5, "successful": 5, "skipped": 0, "failed": 0}
    return {"took": 1, "timed_out": False, "_shards": shards, "hits": {"hits": hits(*ids, index=index)}, **more}


def scored(fused):
    return [(hit["_id"], hit["_score"]) for hit in fused]


def test_both_engines_have_the_same_function():
    assert elasticsearch.fuse_hits is opensearch.fuse_hits


def test_order_and_scores_are_those_of_juryrank_and_jury_is_not_rrf():
    held = held_out(depth=100)
    for lists in held.lists.values():
        texts = {expert: [str(item) for item in listed] for expert, listed in lists.items()}
        given = {expert: answer(*listed) for expert, listed in texts.items()}
        exact = fuse_hits(given, juryrank.Fuser(held.model), top=20)
        assert scored(exact) == list(juryrank.fuse(texts, model=held.model, top=20).items())
        assert [hit["_source"]["name"] for hit in exact] == [f"{hit['_id']}!" for hit in exact]
        plain = fuse_hits(given, "rrf", top=20, k=60)
        assert scored(plain) == list(juryrank.fuse(texts, "rrf", top=20).items())
        assert [hit["_id"] for hit in exact] != [hit["_id"] for hit in plain]


def test_a_saved_model_is_a_path_and_what_was_given_stays_as_it_was(tmp_path):
    held = held_out(depth=20)
    juryrank.save(held.model, tmp_path / "model.json")
    lists = {e: [str(i) for i in listed] for e, listed in next(iter(held.lists.values())).items()}
    given = {expert: answer(*listed) for expert, listed in lists.items()}
    before = json.dumps(given)
    assert scored(fuse_hits(given, tmp_path / "model.json")) == list(juryrank.fuse(lists, model=held.model).items())
    assert json.dumps(given) == before


def test_a_hit_is_that_of_the_list_in_which_it_is_highest():
    one, other = answer("a", "b"), answer("b", "a")
    for hit in other["hits"]["hits"]:
        hit["highlight"] = {"text": ["other"]}
    found = {hit["_id"]: "highlight" in hit for hit in fuse_hits({"one": one, "other": other})}
    assert found == {"a": False, "b": True}


def test_the_same_id_in_two_indices_is_two_documents():
    given = {
        "x": {"hits": {"hits": hits("1", index="2024") + hits("1", "2", index="2025")}},
        "y": {"hits": {"hits": hits("1", index="2025")}},
    }
    fused = fuse_hits(given, "rrf", k=10)
    assert [(hit["_index"], hit["_id"]) for hit in fused] == [("2025", "1"), ("2024", "1"), ("2025", "2")]
    assert fused[0]["_score"] == 1 / 12 + 1 / 11
    assert [hit["_id"] for hit in fuse_hits(given, key=lambda hit: hit["_id"])] == ["1", "2"]


def test_an_index_for_each_expert_needs_a_key():
    given = {"words": answer("w1", "w2", index="words"), "vectors": answer("v2", "v1", index="vectors")}
    for each in given.values():
        for hit in each["hits"]["hits"]:
            hit["_source"]["id"] = int(hit["_id"][1:])
    with pytest.warns(DataWarning, match=r"hits of other indices \(vectors, words\).*give key="):
        assert len(fuse_hits(given)) == 4
    fused = fuse_hits(given, key="id", top=2)
    assert [hit["_source"]["id"] for hit in fused] == [1, 2]
    with pytest.raises(DataError, match=r"'words': the document at rank 1 has no identity: what key= gives"):
        fuse_hits(given, key="nothing")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"timed_out": True}, "expert 'x': the search timed out, and hits may be missing"),
        (
            {
                "_shards": {
                    "total": 5,
                    "failed": 2,
                    "failures": [{"reason": {"type": "circuit", "reason": "too large"}}],
                }
            },
            r"expert 'x': 2 of 5 shards failed \(circuit: too large\), and hits may be missing",
        ),
        ({"_clusters": {"total": 2, "successful": 1, "skipped": 1}}, "expert 'x': 1 of 2 clusters were not, or not"),
    ],
)
def test_an_incomplete_answer_is_used_with_a_warning(more, message):
    with pytest.warns(RetrieverWarning, match=message) as caught:
        fused = fuse_hits({"x": answer("a", "b", **more), "y": answer("b")})
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert [hit["_id"] for hit in fused] == ["b", "a"]


def test_a_search_that_has_failed_is_an_error():
    failed = {"error": {"type": "index_not_found_exception", "reason": "no such index [t]"}, "status": 404}
    with pytest.raises(RetrieverError, match=r"expert 'y': the search failed: index_not_found.*no such index \[t\]"):
        fuse_hits({"x": answer("a"), "y": failed})


@pytest.mark.parametrize("wrong", [["a", "b"], "text", None])
def test_what_is_no_answer_is_an_error_that_names_the_expert(wrong):
    with pytest.raises(DataError, match=f"expert 'x': expected the answer of a search.*got {type(wrong).__name__}"):
        fuse_hits({"x": wrong})


def test_an_answer_to_several_searches_is_not_one_answer():
    with pytest.raises(DataError, match=r"expert 'x': the answer of a search has hits.hits, got took, responses"):
        fuse_hits({"x": {"took": 1, "responses": [answer("a")]}})


def test_methods_of_scores_use_them_and_without_hits_there_is_nothing_to_fuse():
    fused = fuse_hits({"x": answer("a", "b"), "y": answer("b")}, "combsum", norm="none")
    assert scored(fused) == [("b", 17.0), ("a", 9.0)]
    assert fuse_hits({"x": answer(), "y": answer()}) == []
