"""What retries ask for, checked at each claim by the machine that calls the core and its model."""

from collections.abc import Sequence

from builders import key_of
from properties.drawn_jobs import Feature
from properties.worker_rules import WorkerRules
from weft.core.scheduling.time_limits import limit_class
from weft.ports.store import Claimed

_CLASSES = """
    SELECT t.b, t.j, l.asks ->> 'timeout_s' AS class FROM unnest($1::bigint[], $2::int[]) t (b, j)
    JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j JOIN weft.lane l USING (lane_id)
"""


class MoreRules(WorkerRules):
    """Compare the time limits of attempts; how much memory they have stands in the claim."""

    def note_claim(
        self, owner: int, claimed: Sequence[Claimed], expected: Sequence[tuple[int, int]] | None
    ) -> None:
        super().note_claim(owner, claimed, expected)
        if claimed and Feature.MORE in self.features:
            self.run(self._compare_limits(owner, claimed))

    async def _compare_limits(self, owner: int, claimed: Sequence[Claimed]) -> None:
        keys = [key_of(one) for one in claimed]
        limits = {key: self.models[self.ids.index(key[0])].jobs[key[1]].limit_s for key in keys}
        told = await self.workers[owner].store.list_time_limits(keys)
        assert dict(told) == {key: one * 1000 for key, one in limits.items() if one is not None}
        rows = await self.world.admin.fetch(_CLASSES, [k[0] for k in keys], [k[1] for k in keys])
        assert {(row["b"], row["j"]): row["class"] for row in rows} == {
            key[:2]: limit_class(one) for key, one in limits.items()
        }
