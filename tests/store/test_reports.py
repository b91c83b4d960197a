"""What projects cost, by project, user, day, resource and attribute: always the same in all."""

from decimal import Decimal
from typing import Any

import pytest

from builders import job_rows
from store.test_deletion import delete, remove
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.errors import ProjectNotFound, ReportTooLarge
from weft.ports.store import Caller, ReportQuery, Shape

DIVISIONS = ("project", "user", "day", "resource", "attribute")
Names = dict[tuple[str, str | None], int]


async def rows_of(world: World, by: str, caller: Caller, **more: Any) -> Any:  # noqa: ANN401 (documents)
    attribute = "cohort" if by == "attribute" else None
    asked = ReportQuery(by=by, attribute=attribute, **more)
    return (await world.api.billing_report(caller, asked, rows_max=1000)).rows


async def cpu_of(world: World, by: str, caller: Caller, **more: Any) -> Names:  # noqa: ANN401
    """Return the usage of cpu of each row of a report, by its kind and name."""
    return {
        (row["kind"], row["name"]): sum(
            one["usage"] for one in row["cost_by_resource"] if one["resource"] == "cpu"
        )
        for row in await rows_of(world, by, caller, **more)
    }


async def used_cpu(world: World, batch: int) -> int:
    """Return what the attempts of a batch used, from the attempts themselves."""
    return int(
        await world.admin.fetchval(
            "SELECT sum(weft._ms_between(a.started_at, a.ended_at) * s.cpu_m) "
            "FROM weft.attempt a JOIN weft.shape s USING (shape_id) WHERE batch_id = $1", batch,
        )
    )  # fmt: skip


async def run(world: World, batch: int, *, days_ago: int, age_us: int) -> int:
    """Run the only job of a batch and let it count some days ago; return what it used."""
    worker = await world.worker(f"w{batch}")
    (claimed,) = await worker.claim()
    await worker.end(claimed, start_age_us=age_us)
    await world.admin.execute(
        "UPDATE weft.job_delta SET usage_on = usage_on - $2::int "
        "WHERE batch_id = $1 AND usage_on IS NOT NULL", batch, days_ago,
    )  # fmt: skip
    return await used_cpu(world, batch)


async def check_sums(world: World, caller: Caller) -> None:
    """All divisions have the same sum, to the last digit, and it is what the projects cost."""
    sums = set()
    for by in DIVISIONS:
        rows = await rows_of(world, by, caller)
        for row in rows:
            assert Decimal(row["cost"]) == sum(
                Decimal(one["cost"]) for one in row["cost_by_resource"]
            )
        sums.add(sum(Decimal(row["cost"]) for row in rows))
    (total,) = sums
    costs = [one["cost"] for one in await world.api.list_projects(caller, None)]
    assert total > 0
    assert float(total) == pytest.approx(sum(costs), rel=1e-9)


async def test_each_division_adds_up_to_the_cost_and_names_who_used_it(own_world: World) -> None:
    """Before the fold, after it, and when a batch is removed."""
    ada, bob = own_world.caller, await own_world.user("bob")
    await own_world.api.create_project(ada, "lab", cost_max=None)
    await own_world.api.set_project_member(ada, "lab", "bob", is_member=True)
    shapes = [Shape(cpu_m=333, memory_mib=1001, storage_mib=7)]
    new: Any = {"jobs": job_rows(1, shapes=shapes)}
    one = await own_world.submit(**new, attributes={"cohort": "x"})
    used = [await run(own_world, one, days_ago=2, age_us=1_234_567)]
    two = await own_world.submit(
        **new, caller=bob, billing_project="lab", attributes={"cohort": "y"}
    )
    used.append(await run(own_world, two, days_ago=0, age_us=7_654_321))
    three = await own_world.submit(**new, caller=bob, attributes={"other": "x"})
    used.append(await run(own_world, three, days_ago=0, age_us=3_333_333))
    days = await own_world.admin.fetchval(
        "SELECT array_agg(DISTINCT usage_on::text ORDER BY usage_on::text) FROM weft.job_delta "
        "WHERE batch_id = ANY($1) AND usage_on IS NOT NULL", [one, two, three],
    )  # fmt: skip
    assert all(used)

    for _ in range(2):
        await check_sums(own_world, ada)
        assert await cpu_of(own_world, "project", ada) == {
            ("value", "default"): used[0] + used[2],
            ("value", "lab"): used[1],
        }
        assert await cpu_of(own_world, "user", ada) == {
            ("value", "ada"): used[0],
            ("value", "bob"): used[1] + used[2],
        }
        assert await cpu_of(own_world, "day", ada) == {
            ("value", days[0]): used[0],
            ("value", days[1]): used[1] + used[2],
        }
        assert await cpu_of(own_world, "attribute", ada) == {
            ("value", "x"): used[0],
            ("value", "y"): used[1],
            ("none", None): used[2],
        }
        resources = await cpu_of(own_world, "resource", ada)
        assert resources[("value", "cpu")] == sum(used)
        assert [name for _, name in resources] == ["cpu", "memory", "storage"]
        today = (await rows_of(own_world, "day", ada))[-1]["name"]
        period: Any = {"first_day": await own_world.admin.fetchval("SELECT $1::text::date", today)}
        assert await cpu_of(own_world, "user", ada, **period) == {("value", "bob"): sum(used[1:])}
        assert await cpu_of(own_world, "attribute", ada, project="LAB") == {
            ("value", "y"): used[1]
        }
        await own_world.fold()
        assert await own_world.findings() == {}

    await remove(own_world, await delete(own_world, one))
    await check_sums(own_world, ada)
    assert await cpu_of(own_world, "user", ada) == {
        ("value", "ada"): used[0],
        ("value", "bob"): used[1] + used[2],
    }
    assert (await cpu_of(own_world, "attribute", ada))[("unknown", None)] == used[0]


async def test_report_shows_what_its_reader_may_see(own_world: World) -> None:
    """Members their projects; operators the tenant, with projects that were deleted."""
    boss = Caller(
        own_world.caller.tenant_id, own_world.caller.user_id, "ada", role=UserRole.OPERATOR
    )
    bob = await own_world.user("bob")
    await own_world.api.create_project(own_world.caller, "lab", cost_max=None)
    batch = await own_world.submit(1, billing_project="lab")
    used = await run(own_world, batch, days_ago=0, age_us=1_000_000)
    await own_world.fold()

    assert await cpu_of(own_world, "project", own_world.caller) == {("value", "lab"): used}
    assert await cpu_of(own_world, "user", bob) == {}
    with pytest.raises(ProjectNotFound):
        await rows_of(own_world, "user", bob, project="lab")
    with pytest.raises(ProjectNotFound):
        await rows_of(own_world, "user", boss, project="none")
    await own_world.api.change_project(own_world.caller, "lab", {"closed": True})
    await own_world.api.delete_project(own_world.caller, "lab")
    assert await cpu_of(own_world, "project", own_world.caller) == {}
    assert await cpu_of(own_world, "project", boss) == {("value", "lab"): used}


async def test_report_by_attribute_reads_a_bounded_number_of_sums(own_world: World) -> None:
    for _ in range(2):
        batch = await own_world.submit(1)
        await run(own_world, batch, days_ago=0, age_us=1_000_000)
    await own_world.fold()
    asked = ReportQuery(by="attribute", attribute="cohort")

    assert len((await own_world.api.billing_report(own_world.caller, asked, rows_max=2)).rows) == 1
    with pytest.raises(ReportTooLarge) as raised:
        await own_world.api.billing_report(own_world.caller, asked, rows_max=1)
    assert raised.value.code == "BILLING.REPORT_TOO_LARGE"
    by_user = await own_world.api.billing_report(
        own_world.caller, ReportQuery(by="user"), rows_max=1
    )
    assert len(by_user.rows) == 1
