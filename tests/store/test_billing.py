"""What jobs, groups and billing projects cost, and at which prices."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from builders import job_rows, tree
from store.usage_sums import add_up_usage
from store.world import Worker, World
from weft.core.access.rights import UserRole
from weft.core.billing.rates import InvalidPrice, kept_prices
from weft.core.errors import ProjectNotFound, RatesFixed, RatesNotFound
from weft.core.states import Reason
from weft.ports.store import Shape
from weft.store import open_admin

SHAPE = Shape(cpu_m=500, memory_mib=1024)
MS_PER_HOUR = 3_600_000


def usage_of(document: Any) -> dict[str, int]:  # noqa: ANN401 (a document)
    return {one["resource"]: one["usage"] for one in document["cost_by_resource"]}


async def attempt_ms(world: World, *batches: int) -> int:
    """Return how long all attempts that have started and ended ran."""
    return int(
        await world.admin.fetchval(
            "SELECT coalesce(sum(weft._ms_between(started_at, ended_at)), 0) FROM weft.attempt "
            "WHERE batch_id = ANY($1)", batches,
        )
    )  # fmt: skip


async def test_project_costs_the_sum_of_its_attempts(world: World, worker: Worker) -> None:
    batches = [await world.submit(job_rows(3, shapes=[SHAPE])) for _ in range(2)]
    claimed = await worker.claim()
    await worker.start(*claimed, age_us=4_000_000)
    await worker.end(*claimed[:4], start_age_us=4_000_000)
    await worker.end(claimed[4], reason=Reason.LOST)
    await worker.end(claimed[5], reason=Reason.EXIT)

    project: Mapping[str, Any] = {}
    for _ in range(2):  # not folded, then folded
        ms = await attempt_ms(world, *batches)
        (project,) = await world.api.list_projects(world.caller, None)
        (day,) = await world.api.list_project_days(world.caller, "default", before=None, limit=10)
        documents = [await world.api.get_batch(world.caller, batch) for batch in batches]
        assert ms > 0
        assert usage_of(project) == {"cpu": ms * 500, "memory": ms * 1024}
        assert usage_of(day) == usage_of(project)
        assert day["date"] == f"{datetime.now(UTC):%Y-%m-%d}"
        assert project["cost"] == pytest.approx(sum(one["cost"] for one in documents))
        assert project["cost"] == pytest.approx(ms / MS_PER_HOUR * (0.5 * 0.01 + 0.001))
        await world.fold()
    assert project["members"] == ["ada"]


async def test_usage_of_a_project_may_be_beyond_64_bits(own_world: World) -> None:
    """A million days of 4 TiB, in MiB and milliseconds."""
    await own_world.submit(job_rows(1, shapes=[Shape(cpu_m=1000, memory_mib=4 << 20)]))
    await own_world.fold()
    ms = 1_000_000 * 86_400_000
    await own_world.admin.execute(
        "INSERT INTO weft.project_usage "
        "(project_id, tenant_id, usage_on, rate_card_id, shape_id, usage_ms) "
        "SELECT p.project_id, p.tenant_id, current_date, c.rate_card_id, s.shape_id, $1 "
        "FROM weft.billing_project p, weft.rate_card c, weft.shape s "
        "WHERE p.name = 'default' AND s.memory_mib = $2",
        ms, 4 << 20,
    )  # fmt: skip
    await add_up_usage(own_world.admin, date(2020, 1, 1))
    (project,) = await own_world.api.list_projects(own_world.caller, None)
    (day,) = await own_world.api.list_project_days(
        own_world.caller, "default", before=None, limit=10
    )
    # The audit knows no attempt of it.
    await own_world.admin.execute("TRUNCATE weft.project_usage, weft.usage_sum")

    assert usage_of(project) == usage_of(day) == {"cpu": ms * 1000, "memory": ms * (4 << 20)}


async def test_projects_of_others_do_not_exist(world: World) -> None:
    stranger = await world.user("bob")
    await world.admin.execute(
        "DELETE FROM weft.billing_member WHERE user_id = $1", stranger.user_id
    )

    assert await world.api.list_projects(stranger, None) == []
    with pytest.raises(ProjectNotFound):
        await world.api.list_projects(stranger, "default")
    with pytest.raises(ProjectNotFound):
        await world.api.list_project_days(stranger, "default", before=None, limit=1)


async def test_new_prices_count_from_the_next_attempt(own_world: World) -> None:
    async with open_admin(own_world.backend.dsns["admin"]) as admin:
        worker = await own_world.worker()
        batch = await own_world.submit(job_rows(2, group=1), groups=tree("g"))
        (first,) = await worker.claim_and_start(1)
        version = await admin.add_rates(kept_prices({"cpu": "1.5", "memory": 0}), None)
        await worker.beat(first)
        await worker.end(first, start_age_us=2_000_000)
        (second,) = await worker.claim(1)
        await worker.end(second, start_age_us=3_000_000)

        rows = await own_world.attempts(batch, 1) + await own_world.attempts(batch, 2)
        assert [row["rate_card_id"] for row in rows] == [1, version]
        ms = [
            await own_world.admin.fetchval(
                "SELECT weft._ms_between($1, $2)", row["started_at"], row["ended_at"]
            )
            for row in rows
        ]
        expected = (ms[0] * (0.01 + 0.0005) + ms[1] * 1.5) / MS_PER_HOUR
        await own_world.fold()
        for document in (
            await own_world.api.get_batch(own_world.caller, batch),
            await own_world.api.get_group(own_world.caller, batch, 1),
            (await own_world.api.list_projects(own_world.caller, "default"))[0],
        ):
            assert document["cost"] == pytest.approx(expected, rel=1e-3)
        newest, oldest = await own_world.api.list_rates(own_world.caller)
        assert (newest["version"], oldest["valid_from"]) == (version, None)
        prices = {one["resource"]: one["price"] for one in newest["rates"]}
        assert prices["cpu"] == pytest.approx(0.0015)
        assert (prices["memory"], prices["gpu"]) == (0, 0.5)  # one was given, one stays


async def test_prices_of_the_past_stay(database: dict[str, str]) -> None:
    async with open_admin(database["admin"]) as admin:
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        await admin.add_rates({"cpu": "1"}, tomorrow)
        for moment in (datetime(2020, 1, 1, tzinfo=UTC), tomorrow, None):
            with pytest.raises(RatesFixed):
                await admin.add_rates({"cpu": "2"}, moment)


async def test_corrected_prices_change_what_was_billed(own_world: World) -> None:
    """Usage is kept and costs are computed: bills of the past follow. Each correction is shown."""
    worker = await own_world.worker()
    await own_world.submit(job_rows(1, shapes=[SHAPE]))
    (claimed,) = await worker.claim(1)
    await worker.end(claimed, start_age_us=3_600_000_000)
    prices = kept_prices({"cpu": "0.1", "memory": "0.001"})
    async with open_admin(own_world.backend.dsns["admin"]) as admin:
        told: list[int] = []

        async def correct(*, dry_run: bool = False) -> tuple[float, float]:
            changed, n_attempts, ((_tenant, project, before, after),) = await admin.correct_rates(
                1, prices, None, actor="ada", reason="typing error", dry_run=dry_run
            )
            assert changed.keys() <= {"cpu"}
            assert n_attempts == 1
            told.append(len(changed))
            assert project == "default"
            return float(before), float(after)

        (old,) = await own_world.api.list_projects(own_world.caller, None)
        tried = await correct(dry_run=True)
        assert (await own_world.api.list_rates(own_world.caller))[0]["corrections"] == []
        assert await correct() == tried
        assert await correct() == (tried[1], tried[1])
        (new,) = await own_world.api.list_projects(own_world.caller, None)
        (card,) = await own_world.api.list_rates(replace(own_world.caller, role=UserRole.ADMIN))
        (seen,) = await own_world.api.list_rates(own_world.caller)
        assert [finding for finding in await admin.audit() if finding.rows] == []

    assert told == [1, 1, 0]
    assert (old["cost"], new["cost"]) == pytest.approx(tried)
    assert new["cost"] > 5 * old["cost"]
    (correction,) = card["corrections"]
    assert (correction["by"], correction["reason"]) == ("ada", "typing error")
    assert seen["corrections"] == [{**correction, "by": "site administrator"}]
    assert correction["old"] == {"cpu": pytest.approx(0.00001)}
    assert correction["new"] == {"cpu": pytest.approx(0.0001)}


async def test_start_of_prices_that_do_not_apply_yet_can_be_corrected(
    database: dict[str, str],
) -> None:
    now = datetime.now(UTC)
    days = [now + timedelta(days=n) for n in range(5)]
    async with open_admin(database["admin"]) as admin:

        async def move(version: int, day: datetime) -> None:
            await admin.correct_rates(version, {}, day, actor="ada", reason=None, dry_run=False)

        far = await admin.add_rates({"cpu": "1"}, days[3])
        await move(far, days[2])
        last = await admin.add_rates({"cpu": "2"}, days[3])
        for version, day in ((far, days[3]), (far, days[4]), (last, days[1]), (1, days[1])):
            with pytest.raises(RatesFixed):
                await move(version, day)
        with pytest.raises(RatesFixed):
            await move(last, now - timedelta(seconds=1))
        with pytest.raises(RatesNotFound, match="version 99"):
            await move(99, days[4])


async def test_audit_sees_a_price_that_no_correction_explains(own_world: World) -> None:
    async with open_admin(own_world.backend.dsns["admin"]) as admin:
        await admin.correct_rates(1, {"gpu": "1"}, None, actor="ada", reason=None, dry_run=False)
        await own_world.admin.execute("UPDATE weft.rate SET price_per_unit_hour = 2")
        (finding,) = [one for one in await admin.audit() if one.rows]
        await own_world.admin.execute("UPDATE weft.rate SET price_per_unit_hour = 1")

    assert finding.check == "corrections_explain_rates"


@pytest.mark.parametrize("price", ["-1", "x", "nan", "inf", "1e9"])
def test_price_that_is_none_is_refused(price: str) -> None:
    with pytest.raises(InvalidPrice, match="price is invalid"):
        kept_prices({"cpu": price, "gpu": "0.1"})


def test_prices_are_kept_exactly_by_unit() -> None:
    assert kept_prices({"cpu": "0.04", "gpu": 2, "memory": None}) == {"cpu": "0.00004", "gpu": "2"}
    assert Decimal(kept_prices({"memory": "0.001"})["memory"]) * 1024 == Decimal("0.001")
