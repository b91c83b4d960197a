"""500 `/bin/true` through a gateway to Ray, beside a loop of its `JobSubmissionClient`."""

import asyncio
import json
import os
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from benches.engine_loop import EngineLoop, measure_loop
from weft.bench.plan import BenchPlan, BenchProgress

_PORT: Final = 28920
_ADDRESS: Final = f"http://127.0.0.1:{_PORT}"
_LOOK_S: Final = 0.2
_SUBMIT: Final = """
import sys
from ray.job_submission import JobSubmissionClient
client = JobSubmissionClient(sys.argv[1])
for number in range(int(sys.argv[2])):
    client.submit_job(
        entrypoint="/bin/true", submission_id=f"loop-{number}", entrypoint_num_cpus=0.1,
        entrypoint_memory=16 << 20,
    )
"""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of both, and their CPU times."""
    return await measure_loop(plan, progress, _LOOP)


def _settings(place: Path) -> Mapping[str, str]:
    del place
    return {"WEFT_RAY_ADDRESS": _ADDRESS}


async def _prepare(place: Path) -> None:
    del place


def _begin(place: Path, count: int) -> Sequence[str]:
    """Return the one program that submits all: to start it for each would take a second."""
    (found,) = Path(os.environ.get("SERVERS_CACHE", place / "opt")).glob("ray-*/bin/python")
    return str(found), "-c", _SUBMIT, _ADDRESS, str(count)


async def _until_ended(place: Path, count: int) -> None:
    del place
    while await asyncio.to_thread(_n_ended) < count:  # noqa: ASYNC110 (no event)
        await asyncio.sleep(_LOOK_S)


def _n_ended() -> int:
    with urllib.request.urlopen(f"{_ADDRESS}/api/jobs/") as answer:  # noqa: S310 (ours)
        told = json.load(answer)
    mine = [one for one in told if str(one["submission_id"]).startswith("loop-")]
    return sum(one["status"] == "SUCCEEDED" for one in mine)


_LOOP = EngineLoop(
    name="ray",
    port=_PORT,
    settings=_settings,
    prepare=_prepare,
    begin=_begin,
    until_ended=_until_ended,
    begins_all=True,
)
