import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft.core.errors import Invalid
from weft_siege.clocks import Clocks

LIBRARIES = [*Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")]
LOOKS = (
    "import select, time\nfrom weft.worker import boottime\nwhile input():\n"
    " timer, now = boottime.BoottimeTimer(), time.clock_gettime\n"
    " timer.set(boottime.now_ns() + 10_000_000)\n"
    " is_due = bool(select.select([timer.fd], [], [], 10)[0])\n"
    " print(now(time.CLOCK_REALTIME), now(time.CLOCK_MONOTONIC), now(time.CLOCK_BOOTTIME), "
    "is_due, flush=True)"
)


def test_what_turns_no_clock_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid):
        Clocks(tmp_path / "none.so", tmp_path)


@pytest.mark.skipif(not LIBRARIES, reason="there is no libfaketime")
def test_clock_of_one_role_is_turned_while_it_runs(tmp_path: Path) -> None:
    clocks = Clocks(LIBRARIES[0], tmp_path)
    environ = {**os.environ, **clocks.environment("worker-2")}
    with subprocess.Popen(
        [sys.executable, "-I", "-c", LOOKS],
        text=True,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as role:
        assert role.stdin
        assert role.stdout
        last = [[-1]]

        def ahead() -> list[int]:
            """Return by how many minutes its clocks differ from ours, as soon as that changes, or
            when it has not within some seconds.
            """
            ends = time.monotonic() + 3
            while (now := differ()) == last[-1] and time.monotonic() < ends:
                pass
            last.append(now)
            return now

        def differ() -> list[int]:
            assert role.stdin
            assert role.stdout
            role.stdin.write("look\n")
            role.stdin.flush()
            *of_role, is_due = role.stdout.readline().split()
            assert is_due == "True", "a limit of time would have been passed"
            ours = time.time(), time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME)
            return [
                round((float(one) - other) / 60) for one, other in zip(of_role, ours, strict=True)
            ]

        assert ahead() == [0, 0, 0]
        clocks.turn("worker-3", "clock+1h")
        clocks.turn("worker-2", "clock-1h")
        assert ahead() == [-60, 0, 0]
        clocks.turn_back("worker-2", "clock+1h")
        assert ahead() == [-60, 0, 0]
        clocks.turn_back("worker-2", "clock-1h")
        assert ahead() == [0, 0, 0]
        role.stdin.close()
