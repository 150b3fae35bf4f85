"""The end of the service: what was accepted is answered, and nothing new is taken."""

import signal
import time

import pytest

from server.load import load
from server.processes import running


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_fails_no_request(workers: int) -> None:
    with running("--workers", workers) as service, load(service) as outcome:
        time.sleep(1.0)
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(30) == 0
        time.sleep(1.5)  # clients whose connection was not taken up try again after a second
    assert outcome.failures == []
    assert set(outcome.by_status) == {200}
    assert outcome.answered > 50
    assert outcome.refused == 8  # each client, in the end
