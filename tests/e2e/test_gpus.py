"""A worker with two GPUs, whose agent is killed in the middle."""

import json
import os
import signal
from pathlib import Path

import pytest

from e2e.conftest import Weft, until, weft_up

pytestmark = pytest.mark.slow


@pytest.mark.heavy
def test_each_id_is_held_by_one_attempt_at_a_time(tmp_path: Path) -> None:
    go, held = tmp_path / "go", tmp_path / "held"
    held.mkdir()
    # A second attempt with the same id could not make the directory, and would fail.
    take = (
        f"mkdir {held}/$WEFT_GPUS && while [ ! -e {go} ]; do sleep 0.02; done; "
        f"rmdir {held}/$WEFT_GPUS && echo $WEFT_GPUS $CUDA_VISIBLE_DEVICES"
    )
    job = {"command": ["sh", "-c", take], "resources": {"cpu": 0.1, "gpu": 1}, "max_attempts": 1}
    with weft_up(tmp_path / "home", "--gpus", "A,B") as weft:
        number = weft.submit(*[job] * 6)
        until(lambda: len(list(held.iterdir())) == 2)
        ready = json.loads((weft.home / "run" / "worker.ready").read_text())
        os.kill(ready["pid"], signal.SIGKILL)
        until(lambda: _pid_of(weft) not in (None, ready["pid"]))
        go.touch()
        waited = weft.run("wait", number)
        outputs = [weft.run("logs", f"{number}.j{n}").stdout.decode() for n in range(1, 7)]

    assert waited.returncode == 0, waited.stderr.decode()
    assert set(outputs) == {"A A\n", "B B\n"}


def _pid_of(weft: Weft) -> int | None:
    try:
        pid: int = json.loads((weft.home / "run" / "worker.ready").read_text())["pid"]
    except (FileNotFoundError, ValueError):
        return None
    return pid
