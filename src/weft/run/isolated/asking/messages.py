"""Messages of sinks, made away from the driver by a process for each tenant; tests of conditions,
by one for each tester.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import MESSAGE_CHARS_MAX, Tested, parse_tester_commands
from weft.core.text.texts import parse_paths
from weft.ports.sink import Misfit
from weft.ports.tester import TESTER_PLUGINS, DueTest, TesterSite
from weft.run.isolated.pool import AsksPool, Failed, Pool
from weft.run.isolated.process import Ended
from weft.settings import Settings

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


MARGIN_S: Final = 2.0
"""What a test may take beside its own limit, on a busy host."""


class ConditionTests(AsksPool):
    """Runs tests, any number at the same time."""

    def __init__(self, settings: Settings) -> None:
        site = TesterSite(
            allowed=parse_allowed_hosts(settings.tester_private_hosts),
            timeout_s=settings.tester_timeout_s,
            paths=parse_paths(settings.tester_paths),
            commands=parse_tester_commands(settings.tester_commands),
        )
        within_s = settings.tester_timeout_s + MARGIN_S
        self.pool = Pool("tester", within_s, lambda tester: (tester, site))
        self._installed = TESTER_PLUGINS.names()

    async def test(self, due: DueTest) -> Tested | None:
        """Test this; None: it did not end in time."""
        if due.tester not in self._installed:  # else names that jobs make up cost a process each
            return Tested(passed=False, message=f"there is no tester {due.tester!r}")
        try:
            found: Tested = await self.pool.ask(due.tester, {**due.parameters}, Tested)
        except Failed as failed:
            return Tested(passed=False, message=str(failed)[:MESSAGE_CHARS_MAX])
        except (TimeoutError, Ended):
            return None
        return found
