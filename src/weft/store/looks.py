"""The part of the store behind the link for questions to workers outside."""

from weft.core.attempt_key import AttemptKey
from weft.store.database import StorePart
from weft.store.declared import calls, nothing, value


class Looks(StorePart):
    """Calls about questions, as `LookStore` of the worker's port has them."""

    async def ask_look(
        self, number: str, key: AttemptKey, question: str, *, most: int, open_s: float
    ) -> int | None:
        """Ask the worker of an attempt."""
        found: int | None = await self._database.value(
            "ask_look", number=number, batch_id=key.batch_id, job_id=key.job_id,
            attempt=key.attempt, question=question, limit_open=most, open_s=open_s,
        )  # fmt: skip
        return found

    @calls(value)
    async def read_look(self, incarnation_id: int, number: str) -> str | None:
        """Return a question."""

    @calls(nothing)
    async def answer_look(self, incarnation_id: int, number: str, answer: bytes) -> None:
        """Answer it."""

    @calls(value)
    async def take_look(self, number: str) -> bytes | None:
        """Forget it."""
