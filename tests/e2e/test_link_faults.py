"""A worker outside behind a proxy that cuts, delays, truncates and loses what passes."""

import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, until
from e2e.test_workers_outside import Outside, submit

pytestmark = [pytest.mark.heavy, pytest.mark.fault, pytest.mark.timeout(300)]
SCRIPT = """
exec 9>>"$1/lock-$2"
flock -n 9 || echo "$2" >> "$1/twice"
sleep 0.3
echo "$2" >> "$1/done"
echo "said $2"
"""
BEATS = """
exec 9>>"$0/lock"
flock -n 9 || echo >> "$0/twice"
echo $$ >> "$0/begun"
n=0
while [ ! -e "$0/go" ]; do n=$((n+1)); echo "beat $n"; sleep 0.1; done
echo ended
"""
"""Of a job that runs until it is told to end, and says if another of it runs."""
outside = fixture_of(lambda weft, tmp_path: Outside(weft, tmp_path).behind())
"""A worker behind the proxy `outside.middle`."""


def _attempts(weft: Weft, batch: str) -> int:
    found = json.loads(weft.run("status", f"{batch}.j1", "--json").stdout)
    return int(found["attempt"])


def test_a_cut_longer_than_the_grace_ends_attempts_here_first(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    """The worker kills the job before the server gives it to another one."""
    other = Outside(weft, tmp_path, "out2")
    with outside.running():
        job = {"command": ["sh", "-c", BEATS, str(tmp_path)], "max_attempts": 3}
        batch = submit(weft, tmp_path, [job])
        until((tmp_path / "begun").exists)
        outside.middle.cut()
        assert _lives(tmp_path)
        until(lambda: not _lives(tmp_path))
        assert _attempts(weft, batch) == 1
        with other.running():
            until(lambda: len((tmp_path / "begun").read_text().split()) > 1)
            (tmp_path / "go").touch()
            assert weft.run("wait", batch).returncode == 0
        outside.middle.mend()
    assert _attempts(weft, batch) == 2
    assert not (tmp_path / "twice").exists()
    weft.told("audit")


def _lives(folder: Path) -> bool:
    """Say whether the job's shell lives, wherever its number is one of a namespace."""
    words = f"sh\0-c\0{BEATS}\0{folder}\0".encode()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and (entry / "cmdline").read_bytes() == words:
                return True
    return False


def test_nothing_is_lost_or_lives_twice_on_a_bad_network(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    names = [str(number) for number in range(1, 61)]
    done = tmp_path / "done"

    def n_done() -> int:
        return len(done.read_text().split()) if done.exists() else 0

    middle = outside.middle
    with outside.running():
        batch = submit(
            weft,
            tmp_path,
            [
                {"command": ["sh", "-c", SCRIPT, "sh", str(tmp_path), name], "max_attempts": 5}
                for name in names
            ],
        )
        middle.delay_s = 0.02
        for n_bytes in (0, 40, 150, 300, 700):
            before = n_done()
            middle.passes_max = n_bytes
            until(lambda before=before: n_done() > min(before + 3, 55))  # type: ignore[misc]
        middle.swallows = "down"
        threading.Event().wait(3)  # the fault itself
        middle.swallows = None
        middle.cut()
        middle.mend()
        assert weft.run("wait", batch, timeout_s=120).returncode == 0
    assert set(done.read_text().split()) == set(names)
    assert not (tmp_path / "twice").exists()
    assert weft.run("logs", f"{batch}.j60").stdout == b"said 60\n"
    weft.told("audit")
