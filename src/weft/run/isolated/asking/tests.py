"""Tests of conditions, away from the driver: a process for each tester."""

from typing import Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import MESSAGE_CHARS_MAX, Tested, parse_tester_commands
from weft.core.text.texts import parse_paths
from weft.ports.tester import TESTER_PLUGINS, DueTest, TesterSite
from weft.run.isolated.pool import AsksPool, Failed, Pool
from weft.run.isolated.process import Ended
from weft.settings import Settings

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
