"""What every role does before anything else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROLE = """
import gc
import resource
import signal
from weft.run.role_main import run_role

_, hard = resource.getrlimit(resource.RLIMIT_CORE)
hard = {hard}
gc.disable()
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))

signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
signal.signal(signal.SIGCHLD, signal.SIG_IGN)

async def live(settings, name, told):
    assert gc.isenabled()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.getsignal(signal.SIGCHLD) != signal.SIG_IGN
    soft, kept = resource.getrlimit(resource.RLIMIT_CORE)
    assert (soft, kept) == ({soft}, hard), (soft, kept)
    return 77

raise SystemExit(run_role("driver", live))
"""


@pytest.mark.parametrize(("hard", "soft"), [("hard", "min(hard, 1) if hard >= 0 else 1"), (0, 0)])
def test_role_leaves_no_core_dump_and_inherits_no_signals(
    tmp_path: Path, hard: str | int, soft: str | int
) -> None:
    """Not even where the limit that it was given is the highest one."""
    ended = subprocess.run(
        [sys.executable, "-c", ROLE.format(hard=hard, soft=soft)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "WEFT_HOME": str(tmp_path)},
    )

    assert ended.returncode == 77, ended.stderr


STORES = {f"weft.store.{name}" for name in ("admin", "api_store", "driver_store", "worker_store")}
LIBRARIES = {"attr", "cloudpickle", "lark", "pygments", "rich", "yaml"}
ENGINES = {"weft.plugins.executors.container.executor", "weft.plugins.runners.remote"}
ROLES = {"asyncio", "asyncpg", "h11", "structlog", "weft.plugins", "weft.ports.store", "weft.sql"}


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("module", "needed"),
    [
        ("weft.run.detach", {"weft.plugins"}),
        ("weft.run.down", set()),
        ("weft.run.up", {"asyncio", "structlog", "weft.plugins"}),
        ("weft.run.api", {*ROLES, "weft.store.api_store", "weft.store.worker_store"}),
        ("weft.run.driver", {*ROLES, "weft.store.driver_store"}),
        ("weft.run.worker", {*ROLES, "weft.store.worker_store"}),
    ],
)
def test_a_role_starts_without_what_only_others_need(module: str, needed: set[str]) -> None:
    """All of them are loaded whenever weft starts: it is most of the time that `weft up` takes."""
    settings = "; weft.settings.values_of(weft.settings.load_settings())" if needed else ""
    code = f"import sys, {module}, weft.settings{settings}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], check=True, capture_output=True)

    loaded = set(done.stdout.decode().split())
    assert loaded & (LIBRARIES | ENGINES | STORES | ROLES) <= needed
