"""500 `/bin/true` through a gateway to Kubernetes, beside `kubectl run` in a loop."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benches.engine_loop import EngineLoop, measure_loop, run
from weft.bench.plan import BenchPlan, BenchProgress

_SUCCEEDED = "--for=jsonpath={.status.phase}=Succeeded"


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of both, and their CPU times."""
    return await measure_loop(plan, progress, _LOOP)


def _settings(place: Path) -> Mapping[str, str]:
    return {
        "WEFT_KUBERNETES_CONFIG": str(place / "kubeconfig"),
        "WEFT_KUBERNETES_IMAGE": "any",
    }


async def _prepare(place: Path) -> None:
    del place


def _begin(place: Path, number: int) -> Sequence[str]:
    return (
        f"{place}/kubectl",
        "run",
        f"loop-{number}",
        "--image=any",
        "--restart=Never",
        "--labels=by=loop",
        "--command",
        "--",
        "/bin/true",
    )


async def _until_ended(place: Path, count: int) -> None:
    del count
    await run(place / "kubectl", "wait", "pod", "--selector=by=loop", "--timeout=600s", _SUCCEEDED)


_LOOP = EngineLoop(
    name="kubernetes",
    port=18140,
    settings=_settings,
    prepare=_prepare,
    begin=_begin,
    until_ended=_until_ended,
)
