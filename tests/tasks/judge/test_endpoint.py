"""Requests to a model: retries, errors, the key, the cache, grades in answers; against a server on this machine."""

import json
import random
import socket
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from fake_endpoint import Answer, serve
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, EndpointError, ParameterError
from juryrank.retries import Retries
from juryrank.tasks.judge.endpoint import Endpoint, RequestRefusedError, checked_url, is_azure
from juryrank.tasks.judge.endpoint_cache import AnswerCache
from juryrank.tasks.judge.endpoint_judge import ModelJudge, Outcome, judge_items
from juryrank.tasks.judge.endpoint_prompt import Prompt, grade_in, scale
from juryrank.tasks.judge.grades import Grades
from juryrank.tasks.judge.session import Session
from juryrank.tasks.judge.store import JudgementFile
from juryrank.tasks.judge.texts import Texts

SCALE = Grades.parse("0-3")
KEY = "sk-very-secret-0123456789"
BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def endpoint(url: str, waits: list[float] | None = None, key: str = "", **more: Any) -> Endpoint:
    """An endpoint that does not wait, but notes how long it would."""
    environment = {"JURYRANK_API_KEY": key} if key else {}
    sleep = (waits if waits is not None else []).append
    return Endpoint(url, sleep=sleep, environment=environment, **{"timeout": 5.0, **more})


class TestRequests:
    def test_an_answer_comes_with_its_tokens(self) -> None:
        with serve(Answer("fine")) as fake:
            reply = endpoint(fake.url).ask(BODY)
        assert (reply.text, reply.tokens_in, reply.tokens_out) == ("fine", 100, 7)
        assert fake.requests == [BODY]
        assert fake.paths == ["/v1/chat/completions"]

    def test_content_in_parts_is_joined_and_none_is_empty(self) -> None:
        parts = [{"type": "text", "text": '{"grade":'}, {"type": "text", "text": " 1}"}]
        for content, text in ((parts, '{"grade": 1}'), (None, "")):
            with serve(Answer(content)) as fake:
                assert endpoint(fake.url).ask(BODY).text == text

    def test_429_waits_as_long_as_the_server_asks(self) -> None:
        waits: list[float] = []
        with serve(lambda body, n: Answer(status=429, headers={"Retry-After": "7"}) if n < 2 else Answer("ok")) as fake:
            assert endpoint(fake.url, waits).ask(BODY).text == "ok"
        assert len(set(waits)) == 2  # so that requests which are refused together do not come back together
        assert all(7.0 <= wait <= 8.0 for wait in waits)

    def test_retry_after_may_be_a_date(self) -> None:
        waits: list[float] = []
        when = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
        with serve(
            lambda body, n: Answer(status=503, headers={"Retry-After": when}) if n < 1 else Answer("ok")
        ) as fake:
            endpoint(fake.url, waits).ask(BODY)
        assert 20 < waits[0] <= 33

    def test_a_server_that_asks_for_hours_is_an_error(self) -> None:
        with serve(Answer(status=429, headers={"Retry-After": "7200"})) as fake:
            with pytest.raises(EndpointError, match="it asks to wait 7200 seconds: try again later"):
                endpoint(fake.url).ask(BODY)
            assert len(fake.requests) == 1

    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_temporary_errors_are_retried_with_waits_that_double(self, status: int) -> None:
        waits: list[float] = []
        with serve(lambda body, n: Answer(status=status) if n < 3 else Answer("ok")) as fake:
            assert endpoint(fake.url, waits).ask(BODY).text == "ok"
        assert len(fake.requests) == 4
        assert all(0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(waits))

    @pytest.mark.parametrize(("asked", "low", "high"), [(None, 4.0, 8.0), (7.0, 7.0, 8.0), (100.0, 100.0, 110.0)])
    def test_waits_are_random_and_those_of_a_generator_are_the_same_again(
        self, asked: float | None, low: float, high: float
    ) -> None:
        one, same, other = (Retries(generator=random.Random(seed)) for seed in (1, 1, 2))
        found = [one.wait(3, asked) for _ in range(50)]
        assert found == [same.wait(3, asked) for _ in range(50)]
        assert found[0] != other.wait(3, asked)
        assert low <= min(found) < low + 0.2 * (high - low) < high - 0.2 * (high - low) < max(found) <= high
        assert one.wait(30, None) <= one.longest_wait
        assert Retries().wait(3, asked) != Retries().wait(3, asked)  # also those of two processes

    @pytest.mark.parametrize(
        ("status", "body"),
        [
            (429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota"}}),
            (429, {"error": {"type": "insufficient_quota", "message": "x" * 400}}),
            (429, {"error": {"message": "Monthly quota exhausted"}}),
            (429, {"error": {"message": "Insufficient balance"}}),
            (402, {"error": "Payment Required"}),
            (403, {"error": {"code": "403", "message": "Out of call volume quota. Replenished in 20 days."}}),
            (400, {"error": {"message": "Your credit balance is too low to access the API"}}),
        ],
    )
    def test_a_quota_that_is_used_up_ends_all_at_once(self, tmp_path: Path, status: int, body: dict[str, Any]) -> None:
        used_up = Answer(status=status, raw=json.dumps(body).encode())
        waits: list[float] = []
        with serve(lambda body, n: Answer("1") if n < 3 else used_up) as fake:
            judge = model_judge(fake.url, tmp_path)
            judge.endpoint = endpoint(fake.url, waits)
            with pytest.raises(EndpointError, match=f"HTTP {status} .*; the quota or credit of the key is used up"):
                list(judge_items(session_of(tmp_path), judge, parallel=1))
            assert len(fake.requests) <= 5  # and nothing is tried again
        assert waits == []

    @pytest.mark.parametrize(
        ("message", "headers"),
        [
            ("Rate limit reached for requests per minute", {}),
            ("Requests have exceeded the call rate limit. Please retry after 6 seconds.", {}),
            ("You exceeded your current quota, please check your plan", {"Retry-After": "3"}),
            ('Quota exceeded for requests per minute", "retryDelay": "3s"', {}),
        ],
    )
    def test_a_limit_for_some_time_is_waited_for(self, message: str, headers: dict[str, str]) -> None:
        limited = Answer(status=429, headers=headers, raw=message.encode())
        with serve(lambda body, n: limited if n == 0 else Answer("ok")) as fake:
            assert endpoint(fake.url).ask(BODY).text == "ok"

    def test_retries_are_bounded(self) -> None:
        with serve(Answer(status=500, raw=b"out of order")) as fake:
            with pytest.raises(EndpointError, match=r"HTTP 500 .*: out of order after 3 tries"):
                endpoint(fake.url, retries=Retries(most=2)).ask(BODY)
            assert len(fake.requests) == 3

    def test_a_slow_answer_is_a_timeout_that_is_retried(self) -> None:
        with serve(lambda body, n: Answer("ok", wait=0.6 if n == 0 else 0.0)) as fake:
            assert endpoint(fake.url, timeout=0.2).ask(BODY).text == "ok"
            assert len(fake.requests) >= 2
        with (
            serve(Answer(wait=0.6)) as fake,
            pytest.raises(EndpointError, match=r"no answer within 0\.1 seconds after 2"),
        ):
            endpoint(fake.url, timeout=0.1, retries=Retries(most=1)).ask(BODY)

    def test_a_refused_connection_is_an_error_at_once(self) -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            waits: list[float] = []
            with pytest.raises(EndpointError, match=r"cannot be reached: .* is the URL right, and the server running"):
                endpoint(f"http://127.0.0.1:{held.getsockname()[1]}", waits).ask(BODY)
            assert waits == []

    @pytest.mark.parametrize("raw", [b"<html>", b'{"error": "x"}', b"[]", b'{"choices": []}', b"", b"[" * 5000])
    def test_what_is_no_completion_is_retried_and_then_quoted(self, raw: bytes) -> None:
        with serve(lambda body, n: Answer(raw=raw) if n < 1 else Answer("ok")) as fake:
            assert endpoint(fake.url).ask(BODY).text == "ok"
        with serve(Answer(raw=raw)) as fake, pytest.raises(EndpointError, match="not that of chat completions"):
            endpoint(fake.url, retries=Retries(most=1)).ask(BODY)

    @pytest.mark.parametrize(
        ("status", "hint"), [(401, "JURYRANK_API_KEY"), (403, "allowed"), (404, "model right"), (400, "bad")]
    )
    def test_other_errors_stop_at_once_with_a_hint(self, status: int, hint: str) -> None:
        with serve(Answer(status=status, raw=b"bad request")) as fake:
            with pytest.raises(EndpointError, match=f"HTTP {status} .*{hint}"):
                endpoint(fake.url).ask(BODY)
            assert len(fake.requests) == 1

    def test_a_request_that_is_refused_after_others_were_answered_is_only_that_one(self) -> None:
        with serve(lambda body, n: Answer("ok") if n == 0 else Answer(status=400, raw=b"too long")) as fake:
            here = endpoint(fake.url)
            here.ask(BODY)
            with pytest.raises(RequestRefusedError, match="too long"):
                here.ask(BODY)

    def test_a_redirect_is_not_followed(self) -> None:
        with serve(Answer("stolen")) as other, serve(Answer(status=302, headers={"Location": other.url})) as fake:
            with pytest.raises(EndpointError, match="HTTP 302"):
                endpoint(fake.url, key=KEY).ask(BODY)
            assert other.requests == []


class TestKeys:
    def test_the_key_is_sent_as_a_bearer_token_and_nowhere_else(self, tmp_path: Path) -> None:
        cache = AnswerCache(tmp_path / "cache.jsonl")
        with serve(Answer()) as fake:
            here = endpoint(fake.url, key=KEY)
            judge = ModelJudge(here, "m", Prompt("{query} {item}"), SCALE, cache)
            judge.ask(question())
        assert fake.headers[0]["Authorization"] == f"Bearer {KEY}"
        others = [value for name, value in fake.headers[0].items() if name != "Authorization"]
        assert KEY not in json.dumps([fake.requests, fake.paths, others])
        assert KEY not in (tmp_path / "cache.jsonl").read_text()
        assert KEY not in repr(here) + repr(judge)

    def test_a_key_that_the_server_quotes_is_hidden(self) -> None:
        for raw in (f"wrong key {KEY}", "x" * 290 + KEY):
            with serve(Answer(status=401, raw=raw.encode())) as fake, pytest.raises(EndpointError) as error:
                endpoint(fake.url, key=KEY).ask(BODY)
            assert KEY[:8] not in str(error.value)

    def test_without_a_key_none_is_sent_and_that_of_openai_goes_to_openai_only(self) -> None:
        with serve(Answer()) as fake:
            Endpoint(fake.url, environment={"OPENAI_API_KEY": KEY}).ask(BODY)
        assert "Authorization" not in fake.headers[0]
        assert Endpoint("https://api.openai.com/v1", environment={"OPENAI_API_KEY": KEY}).has_key
        assert not Endpoint("https://api.openai.com.example/v1", environment={"OPENAI_API_KEY": KEY}).has_key

    def test_a_key_with_a_line_break_is_refused_without_showing_it(self) -> None:
        with pytest.raises(ParameterError, match="JURYRANK_API_KEY has characters") as error:
            endpoint("http://localhost", key=f"{KEY}\nX: y")
        assert KEY not in str(error.value)


class TestAddresses:
    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("https://api.example.com/v1", "https://api.example.com/v1/chat/completions"),
            ("https://api.example.com/v1/", "https://api.example.com/v1/chat/completions"),
            ("https://x.example/openai/chat/completions", "https://x.example/openai/chat/completions"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("http://[::1]:8000", "http://[::1]:8000/chat/completions"),
        ],
    )
    def test_the_path_of_chat_completions_is_added_unless_it_is_there(self, url: str, expected: str) -> None:
        assert checked_url(url) == expected

    def test_http_to_other_machines_must_be_allowed(self) -> None:
        with pytest.raises(ParameterError, match="use https, or --insecure"):
            checked_url("http://gpu-box:8000/v1")
        assert checked_url("http://gpu-box:8000/v1", insecure=True) == "http://gpu-box:8000/v1/chat/completions"
        with pytest.raises(ParameterError, match="use https"):
            checked_url("http://localhost.example.com/v1")

    @pytest.mark.parametrize(
        "url", ["", "api.example.com/v1", "ftp://x/v1", "https://", "https://x:y/", "https://[x/v1", "https://x/#y"]
    )
    def test_what_is_no_address_is_an_error(self, url: str) -> None:
        with pytest.raises(ParameterError, match="must be a URL such as"):
            checked_url(url)

    @pytest.mark.parametrize("scheme", ["https", "http", "ftp"])
    @pytest.mark.parametrize(
        "rest",
        [
            f"user:{KEY}@api.example.com/v1", f"{KEY}@api.example.com/v1", f"u:{KEY}@host:port/v1", f"u:{KEY}@[x/v1",
            f"api.example.com/v1?key={KEY}", f"api.example.com/v1?{KEY}", f"x/v1?api-version={KEY}",
            f"api.example.com/v1#{KEY}",
            f"api.example.com/v1?api-version=1&key={KEY}", f"api.example.com/v1?key={KEY}&api-version=1",
            f"u:{KEY}/@api.example.com/v1", f"u:{KEY}?x@api.example.com/v1",
        ],
    )  # fmt: skip
    def test_a_key_in_the_address_is_refused_and_not_shown(self, scheme: str, rest: str) -> None:
        with pytest.raises(ParameterError, match=r"must not contain a key|a key in the env|must be a URL") as error:
            checked_url(f"{scheme}://{rest}")
        assert KEY[:14] not in str(error.value)

    def test_a_key_in_the_place_of_the_address_or_in_its_path_is_not_shown(self) -> None:
        with pytest.raises(ParameterError, match="must be a URL") as error:
            checked_url(KEY)
        assert KEY[:14] not in str(error.value)
        for key in ("", "own-secret"):
            with serve(Answer(status=404)) as fake, pytest.raises(EndpointError, match=r"\*\*\*/chat") as told:
                endpoint(f"{fake.url}/{key or KEY}", key=key).ask(BODY)
            assert (key or KEY) not in str(told.value)
        assert KEY not in repr(endpoint(f"https://x/{KEY}"))

    def test_endpoints_of_azure_have_a_version_in_the_address_and_the_key_in_a_header_of_their_own(self) -> None:
        with serve(Answer("fine")) as fake:
            url = fake.url.replace("/v1", "/openai/deployments/some-model?api-version=2024-10-21")
            here = endpoint(url, key=KEY)
            assert here.ask(BODY).text == "fine"
        assert fake.paths == ["/openai/deployments/some-model/chat/completions?api-version=2024-10-21"]
        sent = {name.lower(): value for name, value in fake.headers[0].items()}
        assert (sent["api-key"], "authorization" in sent) == (KEY, False)
        assert here.shown.endswith("/some-model/chat/completions?api-version=2024-10-21")
        assert is_azure("https://mine.openai.azure.com/openai/v1/chat/completions")
        assert not is_azure("https://openai.azure.com.example/v1")


class TestGrades:
    @pytest.mark.parametrize(
        ("answer", "grade"),
        [
            ('{"grade": 2}', 2),
            ('```json\n{"grade": 0}\n```', 0),
            ('{"reason": "about it", "grade": "3"}', 3),
            ('{"score": 1.0}', 1),
            ("2", 2),
            (" 3.\n", 3),
            ("Grade: 1", 1),
            ("**2**", 2),
            ("the relevance is 0", 0),
            ('<think>It could be {"grade": 0}, or 1.</think>{"grade": 2}', 2),
            ('{"grade": 2} {"grade": 2}', 2),
        ],
    )
    def test_a_grade_is_found_in_json_or_alone(self, answer: str, grade: int) -> None:
        assert grade_in(answer, SCALE) == grade

    @pytest.mark.parametrize(
        "answer",
        [
            "", "I cannot judge this.", '{"grade": 7}', '{"grade": -1}', '{"grade": 1.5}', '{"grade": true}',
            '{"grade": null}', '{"grade": [2]}', '{"grade": 1} or {"grade": 2}', "2 or 3", "between 1 and 2", "10", "4",
            "The document has 2 parts, so it is relevant.", '<think>{"grade": 2}', '{"grade": 2', "NaN",
            '{"grade": NaN}', '{"grade": 1e400}', "²",
        ],
    )  # fmt: skip
    def test_anything_else_is_no_grade(self, answer: str) -> None:
        assert grade_in(answer, SCALE) is None

    def test_names_of_grades_are_answers_too(self) -> None:
        named = Grades.parse("no,partly,yes")
        assert [grade_in(text, named) for text in ("partly", '{"grade": "YES"}', '{"grade": 0}', "maybe")] == [
            1,
            2,
            0,
            None,
        ]

    def test_the_scale_names_the_grades(self) -> None:
        assert scale(SCALE).splitlines()[0] == "0: not relevant"
        assert scale(Grades.parse("no,partly,yes")) == "0: no\n1: partly\n2: yes"
        assert scale(Grades.parse("1-5")).splitlines()[1] == "2"


class TestPrompts:
    def test_places_are_filled_once_and_other_braces_stay(self) -> None:
        prompt = Prompt('{query} | {text} | {item} | {"grade": N} | {other}')
        filled = prompt.fill(SCALE, query="{text}", item="d1", text="{query} {item}")
        assert filled == '{text} | {query} {item} | d1 | {"grade": N} | {other}'

    def test_long_texts_are_cut(self) -> None:
        assert Prompt("{query}{text}", 3).fill(SCALE, query="q", item="", text="abcdef") == "qabc"

    def test_a_prompt_needs_places(self, tmp_path: Path) -> None:
        path = tmp_path / "prompt.txt"
        path.write_text("How good is {text}?")
        with pytest.raises(ParameterError, match=r"prompt.txt: a prompt needs the places \{query\} and \{text\}"):
            Prompt.read(path)
        with pytest.raises(DataError, match="the prompt cannot be read"):
            Prompt.read(tmp_path / "none.txt")

    def test_the_default_prompt_has_all_that_is_needed(self) -> None:
        filled = Prompt.read(None).fill(SCALE, query="QUERY", item="ITEM", text="TEXT")
        assert all(part in filled for part in ("QUERY", "TEXT", "0: not relevant", '{"grade": N}'))


def question(query: str = "q", item: str = "a") -> Any:
    from juryrank.tasks.judge.session import Question

    return Question(query, item, 1, 1)


class TestCache:
    def test_what_was_answered_is_not_asked_again(self, tmp_path: Path) -> None:
        path = tmp_path / "cache.jsonl"
        with serve(Answer()) as fake:
            for _ in range(3):  # a new process each time
                judge = ModelJudge(endpoint(fake.url), "m", Prompt("{query} {item}"), SCALE, AnswerCache(path))
                outcome = judge.ask(question())
                assert outcome.grade == 2
            assert len(fake.requests) == 1
            assert outcome.from_cache
            for other in (
                ModelJudge(endpoint(fake.url), "m2", Prompt("{query} {item}"), SCALE, AnswerCache(path)),
                ModelJudge(endpoint(fake.url), "m", Prompt("{query}: {item}"), SCALE, AnswerCache(path)),
                ModelJudge(
                    endpoint(fake.url), "m", Prompt("{query} {item}"), SCALE, AnswerCache(path), settings={"seed": 1}
                ),
            ):
                assert not other.ask(question()).from_cache
        assert [json.loads(line)["answer"] for line in path.read_text().splitlines()] == ['{"grade": 2}'] * 4

    def test_damaged_lines_are_skipped_with_a_warning_and_a_torn_one_does_not_spoil_the_next(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "cache.jsonl"
        cache = AnswerCache(path)
        cache.put(BODY, "one")
        path.write_bytes(path.read_bytes() + b'{"key": 3, "answer": "x"}\n[]\n{"key": "abc", "ans')
        with pytest.warns(DataWarning, match="3 damaged lines of the cache are skipped"):
            again = AnswerCache(path)
        assert again.get(BODY) == "one"
        again.put({**BODY, "model": "n"}, "two\nlines \ud800")
        with pytest.warns(DataWarning, match="3 damaged lines"):
            last = AnswerCache(path)
        assert (last.get(BODY), len(last)) == ("one", 2)

    def test_a_cache_that_cannot_be_written_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="the cache of answers cannot be read"):
            AnswerCache(tmp_path)
        with pytest.raises(DataError, match="the cache of answers cannot be written"):
            AnswerCache(tmp_path / "no" / "cache.jsonl").put(BODY, "x")

    def test_many_threads_write_whole_lines(self, tmp_path: Path) -> None:
        cache = AnswerCache(tmp_path / "cache.jsonl")
        threads = [
            threading.Thread(target=lambda n=n: [cache.put({"model": f"{n} {k}"}, "y" * 500) for k in range(20)])  # type: ignore[misc]
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(AnswerCache(tmp_path / "cache.jsonl")) == 160


def session_of(tmp_path: Path, n_items: int = 30, budget: int = 20, judge: str = "m") -> Session:
    lists = {"e": {q: [f"i{n:02}" for n in range(n_items)] for q in ("q1", "q2")}}
    return Session(from_dicts(lists), JudgementFile(tmp_path / "judged.csv"), judge, budget=budget)


def texts(n_items: int = 30) -> Texts:
    return Texts({f"i{n:02}": f"the text of i{n:02}" for n in range(n_items)}, n_items, 0)


def model_judge(url: str, tmp_path: Path, **more: Any) -> ModelJudge:
    prompt = Prompt("{query} / {text}")
    cache = AnswerCache(tmp_path / "cache.jsonl")
    return ModelJudge(
        endpoint(url, retries=Retries(most=1)), "m", prompt, SCALE, cache, more.pop("items", texts()), **more
    )


def grade_of_number(body: dict[str, Any], count: int) -> Answer:
    """The last digit of the item's number, modulo 4; 4 and 8 are off the scale."""
    digit = int(body["messages"][0]["content"][-1])
    return Answer(f'{{"grade": {digit if digit in (4, 8) else digit % 4}}}')


class TestJudging:
    def test_grades_are_saved_under_the_name_of_the_model_and_the_rest_is_skipped(self, tmp_path: Path) -> None:
        session = session_of(tmp_path)
        with serve(grade_of_number) as fake:
            outcomes = list(judge_items(session, model_judge(fake.url, tmp_path, max_requests=200)))
        graded = [each for each in outcomes if each.grade is not None]
        assert len(graded) == session.n_graded == 20
        assert {each.kind for each in outcomes if each.grade is None} == {"unreadable"}
        saved = {each.key: each.grade for each in session.file.read()}
        assert saved == {each.question.key: each.grade for each in outcomes}
        assert all(grade is None or grade == int(item[-1]) % 4 for (_, item), grade in saved.items())
        assert {each.judge for each in session.file.read()} == {"m"}

    def test_an_unreadable_answer_is_asked_for_once_more_in_the_same_conversation(self, tmp_path: Path) -> None:
        def answer(body: dict[str, Any], count: int) -> Answer:
            return Answer("hmm" if len(body["messages"]) == 1 else "1")

        with serve(answer) as fake:
            outcome = model_judge(fake.url, tmp_path).ask(question(item="i00"))
            assert outcome == Outcome(outcome.question, 1, "graded", False, 200, 14)
        assert [message["content"] for message in fake.requests[1]["messages"]][1] == "hmm"
        assert "JSON only" in fake.requests[1]["messages"][2]["content"]

    def test_never_more_requests_at_once_than_allowed(self, tmp_path: Path) -> None:
        with serve(Answer(wait=0.05)) as fake:
            list(judge_items(session_of(tmp_path), model_judge(fake.url, tmp_path), parallel=3))
            assert 1 < fake.most_at_once <= 3
            assert len(fake.requests) == 20

    def test_what_is_saved_does_not_depend_on_how_many_are_asked_at_once(self, tmp_path: Path) -> None:
        saved = []
        for parallel in (1, 5):
            folder = tmp_path / str(parallel)
            folder.mkdir()
            with serve(grade_of_number) as fake:
                judge = model_judge(fake.url, folder, max_requests=200)
                list(judge_items(session_of(folder), judge, parallel=parallel))
            saved.append([(each.key, each.grade) for each in JudgementFile(folder / "judged.csv").read()])
        assert saved[0] == saved[1]

    def test_after_an_error_what_was_answered_is_kept_and_a_second_run_continues(self, tmp_path: Path) -> None:
        answer = lambda body, n: Answer("3") if n < 8 else Answer(status=500)  # noqa: E731
        with serve(answer) as fake, pytest.raises(EndpointError, match="HTTP 500"):
            list(judge_items(session_of(tmp_path), model_judge(fake.url, tmp_path), parallel=2))
        before = session_of(tmp_path).n_graded
        assert 1 <= before <= 8
        with serve(Answer("3")) as fake:
            outcomes = list(judge_items(session_of(tmp_path), model_judge(fake.url, tmp_path), parallel=2))
            assert len(fake.requests) + 8 == 20  # what was answered before costs nothing again
        assert len(outcomes) == 20 - before

    def test_an_error_does_not_wait_for_the_retries_of_other_requests(self, tmp_path: Path) -> None:
        def answer(body: dict[str, Any], count: int) -> Answer:
            limited = Answer(status=429, headers={"Retry-After": "250"})
            return Answer(status=401, wait=0.3) if "q1 / the text of i00" in body["messages"][0]["content"] else limited

        with serve(answer) as fake:
            judge = model_judge(fake.url, tmp_path)
            judge.endpoint = Endpoint(fake.url, environment={})
            with pytest.raises(EndpointError, match="HTTP 401"):
                list(judge_items(session_of(tmp_path), judge, parallel=4))

    def test_a_refused_text_is_skipped_and_counted(self, tmp_path: Path) -> None:
        def answer(body: dict[str, Any], count: int) -> Answer:
            return Answer("1") if "i01" not in body["messages"][0]["content"] else Answer(status=400, raw=b"too long")

        with serve(answer) as fake:
            judge = model_judge(fake.url, tmp_path)
            assert judge.ask(question(item="i00")).grade == 1
            assert judge.ask(question(item="i01")).kind == "refused"

    def test_items_without_a_text_are_not_asked(self, tmp_path: Path) -> None:
        with serve(Answer()) as fake:
            judge = model_judge(fake.url, tmp_path, items=texts(1))
            assert judge.ask(question(item="i07")).kind == "without text"
            assert fake.requests == []

    def test_the_request_has_temperature_0_and_settings_can_be_changed_or_removed(self, tmp_path: Path) -> None:
        with serve(Answer()) as fake:
            model_judge(fake.url, tmp_path).ask(question(item="i00"))
            model_judge(fake.url, tmp_path, settings={"max_tokens": None, "top_p": 1}).ask(question(item="i01"))
        assert fake.requests[0]["temperature"] == 0
        assert {name for name in fake.requests[1] if name not in ("model", "messages")} == {"temperature", "top_p"}

    def test_the_estimate_counts_calls_and_tokens(self, tmp_path: Path) -> None:
        session = session_of(tmp_path)
        with serve(Answer()) as fake:
            judge = model_judge(fake.url, tmp_path)
            estimate = judge.estimate(session)
            assert fake.requests == []
            assert (estimate.calls, estimate.tokens_out, estimate.cached) == (20, 240, False)
            assert estimate.tokens_in == 20 * len("q1 / the text of i00") / 4
            assert estimate.cost((1.0, 2.0)) == pytest.approx((estimate.tokens_in + 2 * 240) / 1e6)
            judge.ask(session.ahead(1)[0])
            assert judge.estimate(session).cached
