"""What every rule works on: the core, and its model."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from properties.jobs_model import Batch
from store.world import Worker, World
from weft.ports.store import Claimed

Result = TypeVar("Result")


class Rules(RuleBasedStateMachine):
    """The machine that calls both, as its rules see it."""

    world: World
    models: list[Batch]
    ids: list[int]
    workers: list[Worker]
    held: dict[tuple[int, int], tuple[int, Claimed]]
    """Owner and claim of live attempts by batch and job."""

    def run(self, call: Coroutine[Any, Any, Result]) -> Result:
        raise NotImplementedError

    def note_given(self) -> None:
        raise NotImplementedError
