"""A gateway that is killed between what its engine says of an end and what weft records of it."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from e2e.conftest import Weft, until
from e2e.test_engines_together import gateway, told, weft
from runners.nomad_cluster import nomad_cluster
from runners.slurm_cluster import slurm_cluster

pytestmark = [pytest.mark.timeout(600)]
__all__ = ["weft"]
_DIES = """
import os, signal
from weft.cli.app import main
from weft.store.worker_store import PostgresWorkerStore
from weft.worker.agent.attempts import Attempts

def dying(call):
    async def call_or_die(store, incarnation, reports, *more):
        if reports:
            os.kill(os.getpid(), signal.SIGKILL)
        return await call(store, incarnation, reports, *more)
    return call_or_die

def unforgotten(attempts, keys):
    os.kill(os.getpid(), signal.SIGKILL)

if {at!r} == "report":
    PostgresWorkerStore.complete_attempts = dying(PostgresWorkerStore.complete_attempts)
    PostgresWorkerStore.complete_and_claim = dying(PostgresWorkerStore.complete_and_claim)
else:
    Attempts.recorded = unforgotten
main()
"""


@contextmanager
def on_slurm(path: Path) -> Iterator[Mapping[str, str]]:
    """Run an engine; yield the settings of its gateway."""
    with slurm_cluster() as cluster:
        yield {
            "WEFT_SLURM_CONF": str(cluster.conf),
            "WEFT_SLURM_DIRECTORY": str(path / "shared"),
            "WEFT_SLURM_LOOK_S": "0.2",
        }


@contextmanager
def on_nomad(path: Path) -> Iterator[Mapping[str, str]]:
    """Run the other one."""
    del path
    with nomad_cluster() as cluster:
        yield {"WEFT_NOMAD_ADDRESS": cluster.address}


Engine = Callable[[Path], AbstractContextManager[Mapping[str, str]]]


def _has_registered(process: "subprocess.Popen[bytes]", log: Path) -> bool:
    assert process.poll() is None, log.read_text()
    return b"worker.registered" in log.read_bytes()


def _is_over(weft: Weft, batch: str) -> bool:
    """Say whether its end is recorded, and nothing of it is left at the gateway."""
    is_told = bool(told(weft, "status", batch)["complete"])
    return is_told and not [*weft.home.rglob("handles/weft-*")]


@pytest.mark.parametrize(
    ("runner", "engine"),
    [
        pytest.param("slurm", on_slurm, marks=pytest.mark.engine(name="slurm")),
        pytest.param("nomad", on_nomad, marks=pytest.mark.engine(name="nomad")),
    ],
)
def test_the_next_gateway_reports_the_end_once(
    weft: Weft, runner: str, engine: Engine, tmp_path: Path
) -> None:
    """Before weft has heard of it, and before the gateway has heard that it is recorded."""
    seen = tmp_path / "seen"
    small = {"cpu": "100m", "memory": "16Mi"}
    job = {
        "executor": runner,
        "resources": small,
        "script": f'echo ran >>{seen}; echo "said it"; exit 7',
    }

    with engine(tmp_path) as settings:
        for number, at in enumerate(("report", "recorded"), 1):
            log = tmp_path / f"{at}.log"
            with log.open("wb") as output:
                first = subprocess.Popen(
                    [
                        sys.executable,
                        "-c",
                        _DIES.format(at=at),
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
                    ],
                    env=weft.environment(settings),
                    stderr=output,
                )
            until(partial(_has_registered, first, log))
            batch = weft.submit(job)
            assert first.wait(300) == -signal.SIGKILL, log.read_text()
            known = told(weft, "status", batch)["complete"]
            assert known == (at == "recorded")
            with gateway(weft, runner, tmp_path / f"after-{at}.log", settings):
                until(partial(_is_over, weft, batch))
            (attempt,) = told(weft, "status", f"{batch}.j1")["attempts"]
            assert (attempt["exit_code"], attempt["worker"]) == (7, runner)
            assert weft.run("logs", f"{batch}.j1").stdout == b"said it\n"
            assert seen.read_text().split() == ["ran"] * number
        weft.told("audit", timeout_s=120)
