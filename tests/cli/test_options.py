"""What the text of an option means."""

import pytest

from juryrank.cli import options


@pytest.mark.parametrize(
    ("text", "value"),
    [("k=10", 10), ("k=1e-3", 1e-3), ("k=last", "last"), ("k=true", True), ("k=null", None), ('k={"a": 2}', {"a": 2})],
)
def test_a_parameter_is_json_where_it_can_be(text: str, value: object) -> None:
    assert options.named_values([text], "--param") == {"k": value}


def test_a_weight_may_name_an_expert_with_an_equals_sign() -> None:
    assert options.named_values(["a=b=2"], "--weights") == {"a=b": 2}
