"""A clock that jumps, in a real process: rates, versions and keys must not depend on the time of day."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from juryrank.server.registry import digest
from server.processes import Reply, Running, running
from server.samples import bearer, create_key, model_content, random_lists, wait_until

LISTS = random_lists(5)
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
/* The wall clock plus the seconds in the file $CLOCK_OFFSET; other clocks are as they are. */
static long offset(void) {
    static volatile long *shared;
    if (!shared) {
        int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
        shared = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
    return *shared;
}
int clock_gettime(clockid_t clock, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, out);
    if (!code && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) out->tv_sec += offset();
    return code;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


class Clock:
    """The wall clock of a process."""

    def __init__(self, folder: Path) -> None:
        self._file, library = folder / "offset", folder / "clock.so"
        self.jump(0)
        (folder / "clock.c").write_text(CLOCK)
        compiler = shutil.which("cc") or pytest.skip("no C compiler, to make a clock that jumps")
        command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(folder / "clock.c"), "-ldl"]
        subprocess.run(command, check=True)
        self.env = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(self._file)}

    def jump(self, seconds: int) -> None:
        """Set the clock so many seconds before or after the right time."""
        descriptor = os.open(self._file, os.O_CREAT | os.O_WRONLY)
        os.pwrite(descriptor, seconds.to_bytes(8, "little", signed=True), 0)
        os.close(descriptor)


def test_a_clock_that_jumps_changes_neither_rates_nor_versions_nor_keys(tmp_path: Path) -> None:
    year = 365 * 86_400
    clock, folder = Clock(tmp_path), tmp_path / "models"
    folder.mkdir()
    keys, config = tmp_path / "keys.json", tmp_path / "serve.toml"
    admin, limited = create_key(keys, "admin", ("admin",)), create_key(keys, "limited", ("fuse",))
    config.write_text("rate = 4.0\nversions = 3\n")
    with running(folder, "--config", config, "--keys", keys, env=clock.env) as service:
        service.headers.update(bearer(admin))
        for seed, jump in enumerate((0, year, -year, 2 * year, -2 * year)):
            clock.jump(jump)
            time.sleep(0.3)
            _try_again(lambda seed=seed: service.put("/v1/models/m", model_content(seed)), 201)
            expected = datetime.now(UTC).year + jump // year
            wait_until(lambda expected=expected: _logged_year(service) == expected)  # the clock has jumped
        kept = _try_again(lambda: service.get("/v1/models/m"), 200).json()["versions"]
        assert [each["version"] for each in kept] == [digest(model_content(seed)) for seed in (4, 3, 2)]
        assert _try_again(lambda: service.post("/v1/models/m/rollback"), 200).json()["version"] == digest(
            model_content(3)
        )
        for jump in (year, -year, 0):
            clock.jump(jump)
            replies = [service.post("/v1/fuse", {"lists": LISTS}, bearer(limited)) for _ in range(30)]
            assert {reply.status for reply in replies} == {200, 429}  # neither filled up nor locked by the jump
            assert all(reply.headers["retry-after"] == "1" for reply in replies if reply.status == 429)
            _try_again(lambda: service.post("/v1/fuse", {"lists": LISTS}, bearer(limited)), 200)
        clock.jump(-year)
        new = create_key(keys, "new", ("fuse",))
        wait_until(lambda: service.post("/v1/fuse", {"lists": LISTS}, bearer(new)).status in (200, 429), 5)
        assert not [line for line in service.log_lines() if line.get("status", 0) >= 500]
        assert all(0 <= line["milliseconds"] < 60_000 for line in service.log_lines() if "milliseconds" in line)
        assert service.process.poll() is None


def _try_again(call: Callable[[], Reply], status: int) -> Reply:
    """The answer, after waits that the rate asks for."""
    for _ in range(10):
        if (reply := call()).status != 429:
            break
        time.sleep(float(reply.headers["retry-after"]))
    assert reply.status == status, reply
    return reply


def _logged_year(service: Running) -> int:
    return datetime.fromisoformat(service.log_lines()[-1]["time"]).year
