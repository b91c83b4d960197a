"""Blocked jobs, as rules of the machine that calls the core and its model."""

from datetime import UTC, datetime, timedelta

from hypothesis.stateful import rule

from properties.money_rules import MoneyRules

WAIT = {"policy": "constant", "wait_s": 60, "jitter": 0}


class RecoveryRules(MoneyRules):
    """Let the dates of blocked jobs come."""

    @rule()
    def release_blocked(self) -> None:
        """Let the dates of all blocked jobs come."""
        at = datetime.now(UTC) + timedelta(minutes=2)
        epoch = self.run(self.world.lead())
        self.run(self.world.call("release_blocked", epoch=epoch, limit_jobs=1000, at=at))
        for model in self.models:
            model.unblock()
