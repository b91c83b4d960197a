"""Messages of sinks, made away from the driver: a process for each tenant."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weft.ports.sink import Misfit
from weft.run.isolated.pool import AsksPool, Failed, Pool
from weft.run.isolated.process import Ended

TIMEOUT_S: Final = 5.0
"""Of one message."""
_SAID_CHARS_MAX: Final = 200


class MessageMaking(AsksPool):
    """Makes messages, one after another for each tenant."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        self.pool = Pool("message", timeout_s)

    async def make(
        self, tenant_id: int, template: str, facts: Mapping[str, Any], schema: str | None = None
    ) -> str:
        """Return the message. Raise `ValueError`, which says why there is none, and `Misfit` if
        there never is one.
        """
        asked = template, msgspec.to_builtins(facts), schema
        try:
            answer = await self.pool.ask(tenant_id, asked, dict[str, str])
        except TimeoutError as error:
            said = f"the message took longer than {self.pool.within_s:g} s"
            raise ValueError(said) from error
        except Ended as error:
            raise ValueError("the message cannot be made: its process ended") from error
        except Failed as error:
            answer = {"error": str(error)}
        if "message" in answer:
            return str(answer["message"])
        if "misfit" in answer:
            raise Misfit(answer["misfit"][:_SAID_CHARS_MAX])
        raise ValueError(f"the message cannot be made: {answer['error'][:_SAID_CHARS_MAX]}")
