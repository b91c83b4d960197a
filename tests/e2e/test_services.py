"""docs/guides/services.md does what it says, and what is killed comes again."""

import json
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, until, weft_up
from e2e.test_production_lines import run_script
from weft import Client
from weft.core.errors import ServiceRuns

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(300)]
GUIDE = Path(__file__).parents[2] / "docs/guides/services.md"
own = fixture_of(lambda tmp_path: weft_up(tmp_path / "home"))
"""A weft that may be harmed."""


def job(weft: Weft, name: str = "b1.j1") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(weft.run("status", name, "--json").stdout)
    return found


def why(weft: Weft, name: str = "b1.j1") -> bytes:
    return weft.run("why", name).stdout


def test_commands_of_the_guide(own: Weft, tmp_path: Path) -> None:
    (tmp_path / "weft").write_text(f'#!/bin/sh\nexec {sys.executable} -m weft.cli "$@"\n')
    (tmp_path / "weft").chmod(0o700)
    page = GUIDE.read_text().replace("/tmp/ticker.ok", f"{tmp_path}/ok")
    page = page.replace("every_s = 5", "every_s = 0.5")
    first, look, change = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    def typed(block: str) -> str:
        script = re.sub(r"^\$ ", "", block, flags=re.MULTILINE)
        return run_script(own, script, tmp_path, {"PATH": f"{tmp_path}:/usr/bin:/bin"})

    typed(first)
    until(lambda: (job(own)["attempt"], job(own)["state"]) == (3, "running"))
    until(lambda: b"weft: healthy" in own.run("logs", "b1.j1").stderr)
    said = typed(look)
    assert re.search("^Service\talways, 2 restarts$", said, re.MULTILINE)
    assert "external error (weft: it ended with exit code 0)" in said
    assert "unhealthy, 3 of 3: the check ended with exit code 1" in said
    refused = own.run("submit", "ticker.toml", cwd=tmp_path)
    assert (refused.returncode, b'the service "ticker" runs already' in refused.stderr) == (
        4,
        True,
    )
    new = typed(change).split()[-1]
    assert job(own)["state"] == "cancelled"
    until(lambda: job(own, f"{new}.j1")["state"] == "running")
    retried = own.run("retry", "b1.j1")
    assert b"runs already" in retried.stderr
    assert own.run("cancel", new).returncode == 0


def test_service_comes_again_after_whatever_ends_it(own: Weft, tmp_path: Path) -> None:
    """An exit, a bad answer, and kill -9 of the worker with all that it runs; no try is used.
    The other one is a script too large for an argument, which becomes a file.
    """
    script = f"""
        echo $WEFT_ATTEMPT_NO >> {tmp_path}/starts
        case $WEFT_ATTEMPT_NO in
            1) exit 0 ;;
            2) exit 3 ;;
            3) touch {tmp_path}/sick ;;
            4) rm {tmp_path}/sick ;;
        esac
        exec sleep 1000
    """
    health = {
        "command": ["sh", "-c", f"! test -e {tmp_path}/sick"],
        "every_s": 0.2,
        "failures": 2,
    }
    with Client(home=own.home) as client:
        bb = client.create_batch()
        bb.create_job(
            ["sh", "-c", script], name="tick", service={"longest_s": 1, "health": health}
        )
        bb.create_job(
            script=f"# {'x' * 120_000}\n[ $(wc -c < /proc/$$/cmdline) -lt 999 ] && exit 3",
            name="late",
            service={"first_s": 900, "longest_s": 900},
        )
        bb.submit()
        until(lambda: (job(own)["attempt"], job(own)["state"]) == (4, "running"))
        assert b"started again 3 times, last because the check ended with exit code 1" in why(own)
        until(lambda: job(own, "b1.j2")["state"] == "blocked")
        said = rb"is a service that is started again in [^:]+(:\d\d)*: it ended with exit code 3\n"
        assert re.search(said, why(own, "b1.j2"))
        again = client.create_batch()
        again.create_job(["true"], name="tick", service={})
        with pytest.raises(ServiceRuns):
            again.submit()
    for pid in _processes(own.home / "run"):
        os.kill(pid, signal.SIGKILL)
    until(lambda: (job(own)["attempt"], job(own)["state"]) == (5, "running"))
    starts = (tmp_path / "starts").read_text().split()
    assert starts == [*"12345"]
    shown = job(own)
    assert shown["service"]["longest_s"] == 1
    assert shown["max_attempts"] == 32_000
    assert own.run("cancel", "b1").returncode == 0
    until(lambda: job(own)["state"] == "cancelled")


def _processes(run: Path) -> list[int]:
    """Return the agent and the spawner of a home, by the directory that they name."""
    ready = json.loads((run / "worker.ready").read_text())
    found = [int(ready["pid"])]
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"weft.worker.spawner" in words and any(os.fsencode(run) in one for one in words):
            found.append(int(entry.name))
    assert len(found) > 1
    return found
