"""What the tests of Spark share: one session for all of them in a process, because a JVM takes seconds to start."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture(scope="session")
def java() -> str:
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed")
    from spark_cluster import find_java

    home = find_java()
    if home is None:
        pytest.skip(
            "NO JAVA 17 OR NEWER: THE TESTS OF SPARK ARE SKIPPED. As root: apt-get install openjdk-17-jre-headless"
        )
    return home


@pytest.fixture(scope="session")
def spark(java: str) -> Iterator[Any]:
    from spark_cluster import environment, session

    before = {name: os.environ.get(name) for name in environment()}
    started = session()
    yield started
    started.stop()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
