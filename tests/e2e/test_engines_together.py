"""One batch over two engines and this host, while a gateway dies; what jobs leave comes back."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from contexts import fixture_of
from e2e.conftest import PROGRAM, Weft, weft_up
from runners.kubernetes_cluster import kubernetes_cluster
from runners.nomad_cluster import nomad_cluster

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]
COUNT = 20
WITHIN_S = 300.0
SCRIPT = """
echo "$WEFT_JOB" >>{seen}; sleep 1; echo "said $WEFT_INDEX"
echo '{{"type": "{what}", "n": '$WEFT_INDEX'}}' >>"$WEFT_PRODUCTS"
"""


@contextmanager
def gateway(
    weft: Weft, runner: str, log: Path, settings: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a gateway, registered, until the end or its death."""
    command = [
        *PROGRAM,
        "worker",
        "--worker-name",
        runner,
        "--runner",
        runner,
        "--worker-cpu",
        "100",
        "--worker-memory",
        "1Ti",
        "--log-format",
        "json",
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=weft.environment(settings), stderr=output)
    try:
        while b"worker.registered" not in log.read_bytes():
            assert process.poll() is None, log.read_text()
        yield process
    finally:
        process.terminate()
        process.wait(60)


weft = fixture_of(lambda tmp_path: weft_up(tmp_path / "home"))


def test_one_batch_runs_on_two_engines(weft: Weft, tmp_path: Path) -> None:
    """Each job once, also when the gateway is killed while its jobs run."""
    seen = tmp_path / "seen"

    def job(name: str, executor: str, **more: object) -> dict[str, object]:
        text = SCRIPT.format(seen=seen, what=name)
        small = {"cpu": "100m", "memory": "16Mi"}
        return {
            "name": name,
            "executor": executor,
            "script": text,
            "count": COUNT,
            "resources": small,
            **more,
        }

    jobs: list[dict[str, object]] = [
        job("scene", "nomad"),
        {"name": "scenes", "parents": ["scene"]},
        job("map", "kubernetes", parents=["scenes"]),
        {"name": "merged", "command": ["echo", "merged"], "parents": ["map"]},
    ]
    with nomad_cluster() as nomad, kubernetes_cluster() as kubernetes:
        of_nomad = {"WEFT_NOMAD_ADDRESS": nomad.address}
        of_kubernetes = {
            "WEFT_KUBERNETES_CONFIG": str(kubernetes.config),
            "WEFT_KUBERNETES_IMAGE": "any",
        }
        with gateway(weft, "kubernetes", tmp_path / "kubernetes.log", of_kubernetes):
            with gateway(weft, "nomad", tmp_path / "first.log", of_nomad) as first:
                batch = weft.submit(*jobs)
                while not seen.exists():
                    assert first.poll() is None
                os.kill(first.pid, signal.SIGKILL)
            with gateway(weft, "nomad", tmp_path / "second.log", of_nomad):
                deadline = time.monotonic() + WITHIN_S
                while not (status := told(weft, "status", batch))["complete"]:
                    assert time.monotonic() < deadline, status
        of_map = f"{batch}.j{COUNT + 2}"
        last = told(weft, "status", of_map)["attempts"][-1]
        ran = seen.read_text().split()

        assert status["n_succeeded"] == len(ran) + 2 == 2 * COUNT + 2
        assert len(set(ran)) == len(ran)
        assert "on n0" in json.dumps(last)
        assert last["worker"] == "kubernetes"
        said = weft.run("logs", of_map).stdout.decode()
        assert said == "said 0\n"
    products = told(weft, "products", "--limit", "100")
    numbers = {
        what: sorted(one["product"]["n"] for one in products if one["product"]["type"] == what)
        for what in ("scene", "map")
    }
    weft.told("audit", timeout_s=120)

    assert numbers == {"scene": [*range(COUNT)], "map": [*range(COUNT)]}


def told(weft: Weft, *arguments: str) -> Any:  # noqa: ANN401 (what the command prints)
    return json.loads(weft.told(*arguments, "--json"))
