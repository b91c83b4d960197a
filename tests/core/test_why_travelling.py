"""Why a job waits whose queue travels over a transport, and that waits for something else, too."""

from typing import Any

from msgspec.structs import replace

from cases import cases
from core.test_why import INCIDENT, NOW, OFFERED, told
from weft.core.why import GateFacts
from weft.core.why.facts import BlockedFacts

ELSEWHERE: dict[str, Any] = {"serving": 0, "large": 0, "active": 0}
"""The lane of such a queue is no worker's: those that consume it claim nothing."""


@cases(
    "other",
    [
        {"state": "pending", "n_parents": 2},
        {"held": ("/",)},
        {"gates": (GateFacts("concurrency", "x", max_places=1, n_taken=1),)},
        {"state": "blocked", "blocked": BlockedFacts(1, NOW, "exit", 1)},
        {"state": "blocked", "blocked": BlockedFacts(1, NOW, condition=INCIDENT)},
    ],
)
def test_a_job_that_waits_for_something_else_wants_no_worker(other: dict[str, Any]) -> None:
    """Of its way it is told what stays: that nobody consumes, that the transport is away."""
    asks = {"executor": "process"}
    unread, away = replace(OFFERED, slots=0), replace(OFFERED, away_since=NOW, error="refused")
    (cause,) = told(ELSEWHERE, asks=asks, travels=OFFERED, **other)
    without_consumers = told(ELSEWHERE, asks=asks, travels=unread, **other)
    without_transport = told(ELSEWHERE, asks=asks, travels=away, **other)

    assert "that offers" not in cause
    assert without_consumers[0] == without_transport[0] == cause
    assert "that consumes queue" in without_consumers[1]
    assert "which is away" in without_transport[1]
