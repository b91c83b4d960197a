"""500 `/bin/true` through a gateway to Nomad, beside `nomad job dispatch` in a loop."""

import asyncio
import json
import os
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benches.engine_loop import EngineLoop, measure_loop, run
from weft.bench.plan import BenchPlan, BenchProgress

_PORT: Final = 17980
_ADDRESS: Final = f"http://127.0.0.1:{_PORT}"
_LOOK_S: Final = 0.2
_JOB: Final = """job "loop" {
  type = "batch"
  parameterized {}
  group "loop" {
    task "loop" {
      driver = "raw_exec"
      config { command = "/bin/true" }
      resources {
        cpu    = 100
        memory = 16
      }
    }
  }
}
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of both, and their CPU times."""
    return await measure_loop(plan, progress, _LOOP)


def _settings(place: Path) -> Mapping[str, str]:
    del place
    return {"WEFT_NOMAD_ADDRESS": _ADDRESS}


def _program(place: Path) -> str:
    (found,) = Path(os.environ.get("SERVERS_CACHE", place / "opt")).glob("nomad-*")
    return str(found)


async def _prepare(place: Path) -> None:
    file = place / "loop.nomad"
    file.write_text(_JOB)
    await run(_program(place), "job", "run", f"-address={_ADDRESS}", file)


def _begin(place: Path, number: int) -> Sequence[str]:
    del number
    return _program(place), "job", "dispatch", "-detach", f"-address={_ADDRESS}", "loop"


async def _until_ended(place: Path, count: int) -> None:
    del place
    while await asyncio.to_thread(_n_ended) < count:  # noqa: ASYNC110 (no event)
        await asyncio.sleep(_LOOK_S)


def _n_ended() -> int:
    with urllib.request.urlopen(f"{_ADDRESS}/v1/jobs?prefix=loop/") as answer:  # noqa: S310 (ours)
        return sum(one["Status"] == "dead" for one in json.load(answer))


_LOOP = EngineLoop(
    name="nomad",
    port=_PORT,
    settings=_settings,
    prepare=_prepare,
    begin=_begin,
    until_ended=_until_ended,
)
