"""Click logs as tables: what is read, what is dropped and counted, and what is an error."""

import json

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError

ROWS = {
    "query": ["q1", "q1", "q1", "q2", "q2"],
    "item": ["a", "b", "a", "c", "d"],
    "position": [1, 2, 2, 1, 2],
    "clicked": [1, 0, 0, 0, 1],
    "session": ["s1", "s1", "s2", "s3", "s3"],
}


def table(**changes):
    return pl.DataFrame({**ROWS, **changes}, strict=False)


def as_rows(log):
    """The impressions by name, whatever the codes."""
    return sorted(
        (log.queries[q], log.items[i], int(p), bool(c))
        for q, i, p, c in zip(log.query, log.item, log.position, log.clicked, strict=True)
    )


ORDERED = list(zip(*(ROWS[name] for name in ("query", "item", "position")), map(bool, ROWS["clicked"]), strict=True))
EXPECTED = sorted(ORDERED)


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "parquet"])
def test_all_kinds_of_tables_are_read_alike(ending, tmp_path):
    path = tmp_path / f"log.{ending}"
    frame = table()
    {
        "csv": frame.write_csv,
        "tsv": lambda p: frame.write_csv(p, separator="\t"),
        "ndjson": frame.write_ndjson,
        "parquet": frame.write_parquet,
    }[ending](path)
    log = juryrank.read_clicks(path)
    assert as_rows(log) == EXPECTED
    assert (log.n_sessions, log.n_clicks, dict(log.dropped)) == (3, 2, {})


def test_headers_and_words_that_people_use_are_understood():
    frame = table(clicked=["true", "False", "0", "no", "YES"]).rename(
        {"query": "Query_ID", "item": "doc_id", "position": "rank", "clicked": "is_click", "session": "session-id"}
    )
    assert as_rows(juryrank.read_clicks(frame)) == EXPECTED


def test_columns_can_be_named():
    frame = table().rename({"clicked": "zz"})
    assert as_rows(juryrank.read_clicks(frame, columns={"clicked": "zz"})) == EXPECTED


def test_the_order_of_rows_does_not_matter():
    frame = table(propensity=[0.5, 0.25, 1.0, 0.1, 0.2])
    log, other = juryrank.read_clicks(frame), juryrank.read_clicks(frame[[4, 2, 0, 3, 1]])
    for name in ("query", "item", "position", "clicked", "session", "propensity"):
        assert np.array_equal(getattr(log, name), getattr(other, name))


def test_rows_that_cannot_be_used_are_dropped_counted_and_reported():
    rows = [
        *zip(*ROWS.values(), strict=True), ("q1", None, 1, 0, "s4"), (None, "a", 1, 0, "s4"),
        ("q1", "a", None, 0, "s4"), ("q1", "b", -3, 0, "s4"), ("q1", "b", 2, 1, "s1"), ("q1", "b", 2, 0, None),
    ]  # fmt: skip
    with pytest.warns(DataWarning, match="2 without query or item, 1 without a position, 1 with a position below 1"):
        log = juryrank.read_clicks(pl.DataFrame(rows, schema=list(ROWS), orient="row"))
    assert log.dropped == {
        "without query or item": 2, "without a position": 1, "with a position below 1": 1, "without a session": 1,
        "repeated in a session": 1,
    }  # fmt: skip
    assert as_rows(log) == sorted([row for row in EXPECTED if row[1] != "b"] + [("q1", "b", 2, True)])


def test_without_sessions_every_row_is_an_impression():
    frame = pl.concat([table(), table()]).drop("session")
    log = juryrank.read_clicks(frame)
    assert (len(log), log.session, log.dropped) == (10, None, {})


def test_an_empty_cell_means_not_clicked():
    assert juryrank.read_clicks(table(clicked=[1, None, None, None, 1])).n_clicks == 2


def test_positions_that_count_from_zero_are_an_error_that_says_what_to_do():
    frame = table(position=[0, 1, 1, 0, 1])
    with pytest.raises(DataError, match=r"2 of 5 rows have position 0; .* first_position=0"):
        juryrank.read_clicks(frame)
    assert as_rows(juryrank.read_clicks(frame, first_position=0)) == EXPECTED


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"clicked": [1, 0, 2, 0, 1]}, r"row 3: expected 0 or 1 .*'clicked' \(not '2'\)"),
        ({"position": ["1", "2", "x", "1", "2"]}, "row 3: expected a number in column 'position'"),
        ({"position": [1, 2, 1.5, 1, 2]}, "row 3: expected a whole number in column 'position'"),
        ({"propensity": [1, 0.5, 0, 1, 1]}, "row 3: expected a probability above 0 and at most 1"),
        ({"propensity": [1, 0.5, None, 1, 1]}, "row 3: expected a probability"),
        ({"clicked": [1] * 5}, "all 5 rows are clicked"),
    ],
)
def test_a_wrong_value_is_an_error_with_its_row(changes, message):
    with pytest.raises(DataError, match=message):
        juryrank.read_clicks(table(**changes))


@pytest.mark.parametrize("column", ["query", "item", "position", "clicked"])
def test_a_missing_column_is_named(column):
    with pytest.raises(DataError, match=f"needs a column '{column}'"):
        juryrank.read_clicks(table().drop(column))


def test_a_log_of_clicks_alone_is_refused_with_the_reason():
    with pytest.raises(DataError, match="does not say what was shown"):
        juryrank.read_clicks(table().drop("clicked"))


def test_the_line_of_a_wrong_value_in_a_file_is_given(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query,item,position,clicked\nq,a,1,0\nq,b,two,1\n")
    with pytest.raises(DataError, match=r"log.csv:3: expected a number in column 'position'"):
        juryrank.read_clicks(path)


def test_empty_logs_unknown_formats_and_first_positions_are_errors(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query,item,position,clicked\n")
    with pytest.raises(DataError, match="a header and no rows"):
        juryrank.read_clicks(path)
    with pytest.raises(UnknownNameError, match="no format of click logs 'xml'"):
        juryrank.read_clicks(table(), format="xml")
    with pytest.raises(ParameterError, match="first_position must be 0 or 1"):
        juryrank.read_clicks(table(), first_position=2)


def test_the_rows_that_an_exploring_fuser_logs_are_read():
    explored = juryrank.Fuser("rrf", explore=0.5).explored({"x": ["a", "b"], "y": ["b", "c"]}, request="r1")
    rows = [{**row, "clicked": row["position"] == 1} for row in explored.log_rows("q")]
    log = juryrank.read_clicks(pl.DataFrame(rows))
    assert (len(log), log.n_sessions, log.n_clicks) == (3, 1, 1)
    assert log.propensity is not None
    assert np.allclose(sorted(log.propensity), sorted(explored.propensity.values()))


def test_files_with_different_columns_are_not_mixed(tmp_path):
    table().write_csv(tmp_path / "a.csv")
    table().drop("session").write_csv(tmp_path / "b.csv")
    with pytest.raises(DataError, match="some files have a column 'session'"):
        juryrank.read_clicks([tmp_path / "a.csv", tmp_path / "b.csv"])


SPELLINGS = ["red  shoes", "Red shoes", "Red shoes", "Hats", "Hats"]


def test_queries_that_differ_by_case_or_blanks_are_counted_in_a_warning():
    with pytest.warns(DataWarning, match=r"2 queries differ only .* 'Red shoes' and 'red  shoes', and would be 1; "):
        log = juryrank.read_clicks(table(query=SPELLINGS))
    assert (set(log.queries), log.notes) == (set(SPELLINGS), ())


def test_queries_that_differ_by_case_or_blanks_can_be_one():
    log = juryrank.read_clicks(table(query=SPELLINGS), normalise_queries=True)
    expected = ["Red shoes"] * 3 + ["Hats"] * 2
    assert as_rows(log) == sorted((query, *row[1:]) for query, row in zip(expected, ORDERED, strict=True))
    assert "2 queries that differ only by case or blanks are 1" in log.notes[0]
    assert juryrank.read_clicks(table(), normalise_queries=True).notes == ()


class TestUBI:
    """Documents written by hand after the schema 1.3 of User Behavior Insights."""

    QUERIES = [
        {"query_id": "u1", "user_query": "red shoes", "client_id": "c", "timestamp": "2026-01-01T10:00:00Z",
         "query_response_id": "r1", "query_response_hit_ids": ["a", "b", "c"]},
        {"query_id": "u2", "user_query": "red shoes", "query_response_hit_ids": ["b", "a", "c"]},
        {"query_id": "u3", "user_query": "hats", "query_response_hit_ids": ["x"]},
    ]  # fmt: skip

    @staticmethod
    def event(action, query, item, ordinal=None):
        attributes = {"object": {"object_id": item, "object_id_field": "sku"}}
        if ordinal is not None:
            attributes["position"] = {"ordinal": ordinal}
        return {"action_name": action, "query_id": query, "session_id": "s", "timestamp": "2026-01-01T10:00:01Z",
                "event_attributes": attributes}  # fmt: skip

    def write(self, path, documents):
        path.write_text("".join(json.dumps(document) + "\n" for document in documents))
        return path

    @property
    def events(self):
        shown = [self.event("impression", "u1", item, place) for place, item in enumerate("ab", 1)]
        shown += [self.event("impression", "u2", item, {"index": place}) for place, item in enumerate("ba", 1)]
        return [*shown, self.event("click", "u1", "a", 1), self.event("click", "u2", "a", 2)]

    EXPECTED = [
        ("red shoes", "a", 1, True), ("red shoes", "a", 2, True), ("red shoes", "b", 1, False),
        ("red shoes", "b", 2, False),
    ]  # fmt: skip

    def test_impressions_and_clicks_are_joined_and_the_text_names_the_query(self, tmp_path):
        log = juryrank.read_clicks(
            [self.write(tmp_path / "q.ndjson", self.QUERIES), self.write(tmp_path / "e.ndjson", self.events)]
        )
        assert as_rows(log) == self.EXPECTED
        assert (log.n_sessions, log.notes, dict(log.dropped)) == (2, (), {})

    def test_wrapped_documents_and_bulk_requests_are_the_same(self, tmp_path):
        plain = [*self.QUERIES, *self.events]
        wrapped = self.write(tmp_path / "a.ndjson", [{"_index": "ubi", "_source": each} for each in plain])
        bulk = self.write(tmp_path / "b.ndjson", [x for each in plain for x in ({"index": {"_id": "1"}}, each)])
        assert as_rows(juryrank.read_clicks(wrapped)) == as_rows(juryrank.read_clicks(bulk)) == self.EXPECTED

    def test_tables_of_queries_and_events_are_the_same(self, tmp_path):
        queries = [{**q, "query_response_hit_ids": json.dumps(q["query_response_hit_ids"])} for q in self.QUERIES]
        pl.DataFrame(queries).write_csv(tmp_path / "queries.csv")
        events = pl.DataFrame(
            [
                {"query_id": e["query_id"], "action_name": e["action_name"],
                 "event_attributes.object.object_id": e["event_attributes"]["object"]["object_id"],
                 "event_attributes.position.ordinal": n % 2 + 1}
                for n, e in enumerate(self.events)
            ]
        )  # fmt: skip
        events.write_csv(tmp_path / "events.csv")
        log = juryrank.read_clicks([tmp_path / "queries.csv", tmp_path / "events.csv"])
        assert as_rows(log) == self.EXPECTED

    def without_impressions(self, path, **attributes):
        clicks = [self.event("click", "u1", "a"), self.event("click", "u2", "a")]
        return self.write(path, [*({**query, **attributes} for query in self.QUERIES), *clicks])

    def test_without_impressions_the_number_of_hits_on_a_page_is_needed(self, tmp_path):
        path = self.without_impressions(tmp_path / "log.ndjson")
        with pytest.raises(
            DataError, match=r"3 of 3 queries .*first is u1.* hits \(up to 3\) .* shown=N \(--shown N\)"
        ):
            juryrank.read_clicks(path)

    def test_without_impressions_the_first_hits_count_as_shown_and_that_is_stated(self, tmp_path):
        path = self.without_impressions(tmp_path / "log.ndjson")
        log = juryrank.read_clicks(path, shown=2)
        assert as_rows(log) == sorted([*self.EXPECTED, ("hats", "x", 1, False)])
        assert "the first 2 hits of a query count as shown" in log.notes[0]
        assert len(juryrank.read_clicks(path, shown=100)) == 7

    @pytest.mark.parametrize("attributes", [{"page_size": 2}, {"pageSize": "2", "application": "shop"}])
    def test_a_page_size_in_the_log_says_what_was_shown(self, attributes, tmp_path):
        path = self.without_impressions(tmp_path / "log.ndjson", query_attributes=attributes)
        log = juryrank.read_clicks(path)
        assert as_rows(log) == sorted([*self.EXPECTED, ("hats", "x", 1, False)])
        assert "up to the page size in the log (at most 2)" in log.notes[0]
        with pytest.warns(DataWarning, match="1 clicks without an impression"):
            assert len(juryrank.read_clicks(path, shown=1)) == 3

    def test_a_page_size_that_some_queries_lack_is_refused(self, tmp_path):
        queries = [{**self.QUERIES[0], "query_attributes": {"page_size": 2}}, *self.QUERIES[1:]]
        path = self.write(tmp_path / "log.ndjson", [*queries, self.event("click", "u1", "a")])
        with pytest.raises(DataError, match=r"2 of 3 queries \(the first is u2\) do not say"):
            juryrank.read_clicks(path)

    def test_shown_is_refused_where_the_log_says_what_was_shown(self, tmp_path):
        path = self.write(tmp_path / "log.ndjson", [*self.QUERIES, *self.events])
        with pytest.raises(DataError, match="for logs without impression events, but there are 4"):
            juryrank.read_clicks(path, shown=2)
        with pytest.raises(DataError, match="this is a table of impressions"):
            juryrank.read_clicks(table(), shown=2)
        with pytest.raises(ParameterError, match="shown must be a whole number of at least 1, got 0"):
            juryrank.read_clicks(path, shown=0)

    def test_what_is_broken_is_counted(self, tmp_path):
        documents = [
            *self.QUERIES, self.QUERIES[0], {"query_id": "u9"}, {"user_query": "x"},
            {"query_id": "u8", "user_query": ""},
            *self.events, self.event("click", "u1", "a", 1), self.event("click", "u1", "z", 9),
            self.event("click", "gone", "a", 1), self.event("impression", "gone", "a", 1),
            self.event("add_to_cart", "u1", "a"),
            self.event("impression", "u1", "c", "top"), self.event("impression", "u1", "d", -1),
            self.event("click", "u1", None), self.event("click", None, "a"), self.event("impression", "u1", "a", 1),
        ]  # fmt: skip
        path = self.write(tmp_path / "log.ndjson", documents)
        path.write_text(path.read_text() + "{broken\n[1]\n")
        with pytest.warns(DataWarning, match="rows that are not used"):
            log = juryrank.read_clicks(path)
        assert as_rows(log) == self.EXPECTED
        assert log.dropped == {
            "queries again with the same query_id": 1, "that are not a UBI document": 3, "without a query_id": 2,
            "queries without a user_query": 1, "of the action add_to_cart": 1, "without an object_id": 1,
            "clicks again on the same item": 1, "impressions of an unknown query_id": 1,
            "clicks of an unknown query_id": 1, "clicks without an impression": 1, "without a position": 1,
            "with a position below 1": 1, "repeated in a session": 1,
        }  # fmt: skip

    def test_other_actions_can_count_as_clicks(self, tmp_path):
        documents = [*self.QUERIES, *self.events[:4], self.event("purchase", "u1", "b")]
        path = self.write(tmp_path / "log.ndjson", documents)
        assert [row for row in as_rows(juryrank.read_clicks(path, actions=["purchase"])) if row[3]] == [
            ("red shoes", "b", 2, True)
        ]
        assert juryrank.read_clicks(path).dropped == {"of the action purchase": 1}

    def test_executions_of_one_query_in_several_spellings_can_be_one_query(self, tmp_path):
        queries = [self.QUERIES[0], {**self.QUERIES[1], "user_query": "Red  Shoes "}, self.QUERIES[2]]
        path = self.write(tmp_path / "log.ndjson", [*queries, *self.events])
        with pytest.warns(DataWarning, match="2 queries differ only by case or blanks"):
            assert len(juryrank.read_clicks(path).queries) == 2
        log = juryrank.read_clicks(path, normalise_queries=True)
        assert (len(log.queries), log.n_sessions) == (1, 2)

    @pytest.mark.parametrize(
        ("documents", "message"),
        [
            ("events", "there are no query documents"),
            ("queries", "it is not known what was shown"),
        ],
    )
    def test_half_of_the_documents_are_an_error(self, documents, message, tmp_path):
        bare = [{"query_id": "u1", "user_query": "q"}, self.event("click", "u1", "a")]
        path = self.write(tmp_path / "log.ndjson", self.events if documents == "events" else bare)
        with pytest.raises(DataError, match=message):
            juryrank.read_clicks(path)
