"""Forecasts of jobs whose durations are draws of known distributions."""

from collections.abc import Callable
from random import Random
from typing import Any

from cases import cases
from weft.core.forecast import ForecastFacts, Promise, promise
from weft.core.why import PoolFacts


def forecast(own: list[float], **facts: Any) -> Promise | None:  # noqa: ANN401 (fields of ForecastFacts)
    usual: dict[str, Any] = {"n_waiting": 1, "n_running": 0, "elapsed": (), "running": ()}
    pool = PoolFacts("p", cpu_active=4, free=not facts.get("before"))
    return promise(ForecastFacts(**{**usual, **facts}, own=own, cpu_m=1000, pool=pool))


@cases("draw", [lambda rng: rng.lognormvariate(3, 0.6), lambda rng: rng.gauss(60, 5)])
def test_intervals_hold_of_jobs_that_are_alike(draw: Callable[[Random], float]) -> None:
    """Of a batch, and of one that waits or has run for 20 s."""
    rng, held = Random(1), []  # noqa: S311 (draws)
    for _ in range(40):
        own = [draw(rng) for _ in range(30)]
        left = next(filter(lambda seconds: seconds > 20, iter(lambda: draw(rng), None))) - 20
        many = sum(draw(rng) for _ in range(100))
        for came, facts in (
            (draw(rng), {}), (many, {"n_waiting": 100}),
            (left, {"n_waiting": 0, "n_running": 1, "elapsed": (20.0,)}),
        ):  # fmt: skip
            if found := forecast(own, **facts):
                held.append(found.work.low <= came <= found.work.high)
    assert 0.8 <= sum(held) / len(held) <= 0.98, (sum(held), len(held))
    assert len(held) >= 80


def test_little_is_known_of_few_and_of_what_differs() -> None:
    """Before any own job has ended, like batches say how it may be; what is before it delays."""
    assert forecast([10.0] * 4) is None
    assert forecast([0.0, 1, 10, 900, 80_000], n_waiting=50) is None
    after = forecast([10.0] * 30, before=40)
    assert after is not None and after.starts is not None  # noqa: PT018
    assert 102 <= after.starts.low <= after.starts.high < after.ends.high < 120 + 20
    two_kinds = forecast([], like=[[10.0] * 10, [60.0] * 10])
    assert two_kinds is not None and two_kinds.ends.low < 20  # noqa: PT018
    assert two_kinds.ends.high > 50
