"""What jobs, groups and billing projects cost, and at which prices; limits of users, batches and
groups, in money and in hours of resources.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from builders import job_rows, tree
from store.barriers import TREE
from store.test_spending import ENOUGH, TOO_LITTLE, look, stop
from store.usage_sums import add_up_usage
from store.world import Worker, World
from weft.core.access.rights import UserRole
from weft.core.billing.rates import UNITS_OF_A_PRICE, InvalidPrice, kept_prices
from weft.core.billing.spending import Measure, Stage
from weft.core.errors import (
    BatchNotFound,
    BillingLimitReached,
    GroupNotFound,
    ProjectNotFound,
    RatesFixed,
    RatesNotFound,
    UserNotFound,
)
from weft.core.states import Reason
from weft.core.why import causes_of_wait
from weft.ports.store import Shape
from weft.ports.store.queries import Limited
from weft.store import open_admin

HOUR_MS = 3_600_000
LARGE = Shape(cpu_m=2000, memory_mib=3072, gpu=1, storage_mib=512)


async def limit(
    world: World,
    of: Limited,
    amount_max: float | None,
    measure: Measure = Measure.COST,
    **more: Any,  # noqa: ANN401 (limits)
) -> dict[str, Any]:
    """Change a limit, and let the driver look."""
    patch = {"amount_max": amount_max, **more}
    found = await world.api.set_limit(world.caller, of, measure, patch)
    await look(world)
    return dict(found)


async def listed(world: World, batch: int | None = None) -> list[dict[str, Any]]:
    rows = await world.api.list_limits(world.caller, batch, after=0, limit=99)
    return [dict(row) for row in rows]


def user(world: World) -> Limited:
    return Limited("user", world.caller.user_name)


async def test_limit_that_cancels_makes_no_exception_of_always_run(world: World) -> None:
    """By such jobs anybody could spend without end: also those of batches cancelled before."""
    running, worker, (one,) = await world.submit_and_start(job_rows(1, always_run=True))
    waiting = await world.submit(job_rows(2, always_run=[True, False]))
    cancelled = await world.submit(job_rows(2, always_run=[True, False]))
    await world.cancel(cancelled)
    await limit(world, Limited("project", name="default"), TOO_LITTLE, on_limit="cancel")
    await stop(worker, one)
    await world.sweep()

    assert await worker.claim() == []
    assert [await world.states(x) for x in (running, waiting, cancelled)] == ["c", "cc", "cc"]


async def test_user_at_their_limit_is_paused_whoever_pays(world: World) -> None:
    """Others of the project go on; later batches of the user wait as well."""
    bob = await world.user("bob")
    await world.api.create_project(world.caller, "other", cost_max=None)
    mine, paid = await world.submit(1), await world.submit(1, billing_project="other")
    worker, claimed = await world.claim_and_start()
    await limit(world, user(world), TOO_LITTLE)
    await stop(worker, *claimed)
    late, of_bob = await world.submit(1), await world.submit(1, caller=bob)

    assert [one.batch_id for one in await worker.claim()] == [of_bob]
    await look(world)
    assert await worker.claim() == []
    assert [await world.states(one) for one in (mine, paid, late)] == ["r", "r", "r"]
    (found,) = await listed(world)
    assert (found["kind"], found["user"], found["limit_state"]) == (
        "user",
        world.caller.user_name,
        "paused",
    )
    assert await world.findings() == {}
    await limit(world, user(world), ENOUGH)
    assert sorted(one.batch_id for one in await worker.claim()) == sorted((mine, paid, late))


async def test_group_at_its_limit_is_paused_and_the_others_go_on(world: World) -> None:
    """With the groups below it, and with what comes into it later."""
    batch, worker, claimed = await world.submit_and_start(
        job_rows(4, group=[0, 1, 2, 3]), groups=TREE
    )
    await limit(world, Limited("group", None, batch, "/a"), TOO_LITTLE)
    in_group = [one for one in claimed if one.job_id in {2, 3}]
    to_stop = (await worker.beat(*claimed)).to_stop
    assert sorted(job_id for _, job_id, _ in to_stop) == [2, 3]
    await worker.end(*in_group, reason=Reason.CANCELLED, start_age_us=None)
    await world.submit(job_rows(2, group=[-1, 0]), batch=batch)

    late = await worker.claim()
    assert [one.job_id for one in late] == [6]
    other, job = await world.api.why_jobs(world.caller, batch, [1, 3])
    assert (job.limit and job.limit.name, other.limit) == ("/a", None)
    (cause, *_) = causes_of_wait(job, {}, datetime.now(UTC))
    assert cause.text == f"waits: b{batch}/a is paused at its limit of < 0.01"
    assert cause.command == f"weft limit set --batch b{batch}/a --measure cost AMOUNT"
    assert await world.findings() == {}
    await limit(world, Limited("group", None, batch, 1), None)
    more = await worker.claim()
    assert sorted(one.job_id for one in more) == [2, 3, 5]
    await worker.end(*late, *more, *(one for one in claimed if one not in in_group))


async def test_group_may_be_cancelled_at_its_limit(world: World) -> None:
    batch = await world.submit(job_rows(2, group=[0, 1]), groups=TREE)
    await limit(world, Limited("group", None, batch, "/a"), 0, on_limit="cancel")
    await world.sweep()

    assert await world.states(batch) == "rc"


async def test_user_who_cancels_at_a_limit_submits_nothing(world: World) -> None:
    await limit(world, user(world), 0, Measure.CPU, on_limit="cancel")
    with pytest.raises(BillingLimitReached, match="user") as refused:
        await world.submit()

    assert "0 core hours" in str(refused.value.detail)
    assert str(refused.value.hint).startswith("Ask an administrator to raise the limit.")
    await limit(world, user(world), None, Measure.CPU)
    assert await world.states(await world.submit()) == "r"


async def test_hours_are_what_was_billed_and_what_runs(own_world: World) -> None:
    """Folded or not, in each measure, of each kind of limit."""
    batch = await own_world.submit(job_rows(2, shapes=[LARGE], group=[1, 0]), groups=TREE)
    kinds = {
        "user": user(own_world),
        "project": Limited("project", "default"),
        "batch": Limited("group", None, batch),
        "group": Limited("group", None, batch, "/a"),
    }
    for measure in Measure:
        for of in kinds.values():
            await limit(own_world, of, ENOUGH, measure)
    worker = await own_world.worker(cpu_m=4000, gpu=2)
    one, other = await worker.claim_and_start()
    await worker.end(one, start_age_us=1000)
    await worker.end(other, start_age_us=3000)
    for _ in range(2):
        bills = {
            "group": await own_world.api.get_group(own_world.caller, batch, 1),
            "batch": await own_world.api.get_batch(own_world.caller, batch),
        }
        for found in await listed(own_world, batch):
            bill = bills["group" if found["kind"] == "group" else "batch"]
            used = {each["resource"]: each["usage"] for each in bill["cost_by_resource"]}
            hours = {name: ms / HOUR_MS / UNITS_OF_A_PRICE[name] for name, ms in used.items()}
            assert min(hours.values()) > 0
            expected = {**hours, "cost": bill["cost"]}[found["measure"]]
            assert found["amount"] == pytest.approx(expected, rel=1e-6, abs=1e-11)
        await own_world.fold()
    batch = await own_world.submit(job_rows(2, shapes=[LARGE], group=[-1, 0]), batch=batch)
    running = await worker.claim_and_start()
    per_hour = {
        (each["kind"], each["measure"]): each["amount_per_hour"]
        for each in await listed(own_world)
    }
    assert per_hour["user", "cpu"] == per_hour["batch", "cpu"] == 4
    assert per_hour["group", "memory"] == 3
    assert all(each["limit_in_s"] > 0 for each in await listed(own_world))
    await worker.end(*running)


async def test_limits_in_hours_pause_like_those_in_money(world: World, worker: Worker) -> None:
    """Two of one batch pause it each by itself."""
    batch = await world.submit(2)
    of = Limited("group", None, batch)
    await limit(world, of, 0, Measure.CPU)
    await limit(world, of, 0, Measure.GPU)
    assert await worker.claim() == []
    await limit(world, of, None, Measure.CPU)
    assert await worker.claim() == []
    await limit(world, of, None, Measure.GPU)

    assert len(await worker.claim()) == 2
    assert await listed(world) == []


async def test_soft_limit_of_a_group_slows_its_part_of_the_batch(world: World) -> None:
    batch = await world.submit(
        job_rows(4, shapes=[Shape(cpu_m=1000)], group=[1, 1, 0, 0]), groups=TREE
    )
    await world.fold()
    weight = "SELECT weight FROM weft.user_share WHERE tenant_id = $1 AND user_id = $2"
    whose = world.caller.tenant_id, world.caller.user_id
    for of, expected in (
        (Limited("group", None, batch, 1), 0.75),
        (Limited("group", None, batch), 0.5),
        (user(world), 0.5),
    ):
        await limit(world, of, None, amount_soft_max=0)
        assert await world.admin.fetchval(weight, *whose) == expected
        await limit(world, of, None, amount_soft_max=None)
        assert await world.admin.fetchval(weight, *whose) == 1


async def test_limit_of_a_removed_user_is_raised(world: World, worker: Worker) -> None:
    """Their batches go on to their end, which is not for ever behind their limit."""
    bob = await world.user("bob")
    await world.submit(1, caller=bob)
    await limit(world, Limited("user", "bob"), 0)
    await world.admin.execute(
        "UPDATE weft.tenant_user SET role = 'admin' WHERE user_id = $1", world.caller.user_id
    )
    admin = replace(world.caller, role=UserRole.ADMIN)
    await world.api.remove_user(admin, "bob", may_give=list(UserRole))
    assert await worker.claim() == []
    await limit(world, Limited("user", "BOB"), None)
    await world.api.set_quota(admin, "bob", {"cores": 8})

    assert len(await worker.claim()) == 1


async def test_limits_that_are_done_are_not_looked_at(own_world: World) -> None:
    """Those of batches that are complete: there may be many."""
    batch = await own_world.submit(1)
    await limit(own_world, Limited("group", None, batch), ENOUGH)
    worker = await own_world.worker()
    assert await look(own_world) == [Stage.BELOW]
    await worker.run()
    await own_world.fold()

    assert await look(own_world) == []
    await own_world.submit(1, batch=batch)
    await own_world.fold()
    assert await look(own_world) == [Stage.BELOW]


async def test_limits_are_seen_by_those_whom_they_concern(world: World) -> None:
    bob, eve = await world.user("bob"), await world.user("eve")
    batch = await world.submit(1)
    await limit(world, user(world), ENOUGH)
    await limit(world, Limited("project", "default"), ENOUGH, Measure.GPU)
    await limit(world, Limited("group", None, batch), ENOUGH)
    await world.api.set_project_member(world.caller, "default", "eve", is_member=False)
    seen = {}
    for one in (bob, eve):
        rows = await world.api.list_limits(one, None, after=0, limit=9)
        seen[one.user_name] = {row["kind"] for row in rows}
        with pytest.raises(BatchNotFound):
            await world.api.set_limit(eve, Limited("group", None, batch), Measure.COST, {})
    (kind,) = {row["kind"] for row in await world.api.list_limits(bob, None, after=0, limit=1)}

    assert seen == {"bob": {"project", "batch"}, "eve": set()}
    assert kind == "project"
    with pytest.raises(BatchNotFound):
        await world.api.list_limits(eve, batch, after=0, limit=9)
    assert len(await listed(world, batch)) == 3


async def test_limit_of_nothing_is_refused(world: World) -> None:
    for of, error in [
        (Limited("user", "nobody"), UserNotFound),
        (Limited("group", None, 999_999_999), BatchNotFound),
    ]:
        with pytest.raises(error):
            await limit(world, of, 1)
        batch = await world.submit(1)
        with pytest.raises(GroupNotFound):
            await limit(world, Limited("group", None, batch, "/none"), 1)


SHAPE = Shape(cpu_m=500, memory_mib=1024)
MS_PER_HOUR = 3_600_000


def usage_of(document: Any) -> dict[str, int]:  # noqa: ANN401 (a document)
    return {one["resource"]: one["usage"] for one in document["cost_by_resource"]}


async def attempt_ms(world: World, *batches: int) -> int:
    """Return how long all attempts that have started and ended ran."""
    return int(
        await world.admin.fetchval(
            "SELECT coalesce(sum(weft._ms_between(started_at, ended_at)), 0) FROM weft.attempt "
            "WHERE batch_id = ANY($1)",
            batches,
        )
    )


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
        ms,
        4 << 20,
    )
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
