"""What projects cost: the same in all divisions, as a whole and page by page."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from builders import job_rows
from store.batch_steps import delete, remove
from store.usage_sums import add_up_usage
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
            "FROM weft.attempt a JOIN weft.shape s USING (shape_id) WHERE batch_id = $1",
            batch,
        )
    )


async def run(world: World, batch: int, *, days_ago: int, age_us: int) -> int:
    """Run the only job of a batch and let it count some days ago; return what it used."""
    worker = await world.worker(f"w{batch}")
    (claimed,) = await worker.claim()
    await worker.end(claimed, start_age_us=age_us)
    await world.admin.execute(
        "UPDATE weft.job_delta SET usage_on = usage_on - $2::int "
        "WHERE batch_id = $1 AND usage_on IS NOT NULL",
        batch,
        days_ago,
    )
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
        "WHERE batch_id = ANY($1) AND usage_on IS NOT NULL",
        [one, two, three],
    )
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


CHECK = "usage_by_resource_equals_usage"
NAMES = ("lab", "art", "zoo")
SCANNED = 5  # times as many as a page shows


async def _fill(world: World) -> Caller:
    """Let three users use something in three projects on three days; return an operator."""
    users = [world.caller, await world.user("bob"), await world.user("cyd")]
    for days_ago, (name, user) in enumerate(zip(NAMES, users, strict=True)):
        await world.api.create_project(world.caller, name, cost_max=None)
        await world.api.set_project_member(world.caller, name, user.user_name, is_member=True)
        batch = await world.submit(1, caller=user, billing_project=name)
        await run(world, batch, days_ago=days_ago, age_us=1_234_567 * (1 + days_ago))
    return replace(world.caller, role=UserRole.OPERATOR)


async def _page(world: World, caller: Caller, **asked: Any) -> Any:  # noqa: ANN401 (a page)
    return await world.api.billing_report(
        caller, ReportQuery(**asked), rows_max=99, projects_max=4
    )


def _costs(rows: Any) -> dict[str, Decimal]:  # noqa: ANN401 (documents)
    return {row["name"]: Decimal(row["cost"]) for row in rows}


@pytest.mark.parametrize("folds", [True, False])
async def test_pages_are_the_whole_report(own_world: World, *, folds: bool) -> None:
    """Of a tenant, of a member, and of one project; also before usage is folded."""
    boss = await _fill(own_world)
    if folds:
        await own_world.fold()

    for caller in (boss, own_world.caller):
        for by in ("project", "user", "day"):
            whole = await _page(own_world, caller, by=by)
            found: list[Any] = []
            after = None
            while True:
                page = await _page(own_world, caller, by=by, limit=1, after=after)
                assert len(page.rows) <= 1
                found += page.rows
                after = page.next
                if after is None:
                    break
            assert whole.next is None
            assert len(found) == len(whole.rows) == 3
            assert _costs(found).keys() == _costs(whole.rows).keys()
            for name, cost in _costs(whole.rows).items():
                assert abs(_costs(found)[name] - cost) <= Decimal("1e-11")
            assert [row["name"] for row in whole.rows] == sorted(_costs(whole.rows))
    beyond = [await _page(own_world, boss, by="day", limit=1, after=10**n) for n in (9, 17)]
    assert [(page.rows, page.next) for page in beyond] == [([], None)] * 2
    by_number = await _page(own_world, boss, by="project", limit=9)
    assert [row["name"] for row in by_number.rows] == list(NAMES)
    one = await _page(own_world, boss, by="user", project="ART", limit=9)
    assert [row["name"] for row in one.rows] == ["bob"]


async def test_page_goes_on_behind_what_used_nothing_in_its_time(own_world: World) -> None:
    """It looks at five times as many projects as it shows, and may be empty."""
    boss = await _fill(own_world)
    await own_world.fold()
    await own_world.admin.execute(
        "WITH made AS (INSERT INTO weft.billing_project (tenant_id, name) "
        "SELECT $1, 'old' || n FROM generate_series(1, 9) n RETURNING project_id) "
        "INSERT INTO weft.usage_sum "
        "SELECT $1, project_id, 0, '2020-01-01', 1, 1, 1, 0, 0 FROM made",
        own_world.caller.tenant_id,
    )
    today = await own_world.admin.fetchval("SELECT (now() AT TIME ZONE 'UTC')::date - 9")
    asked = {"by": "project", "first_day": today, "limit": 1}
    third = await _page(own_world, boss, **asked)
    third = await _page(own_world, boss, **asked, after=third.next)
    third = await _page(own_world, boss, **asked, after=third.next)
    empty = await _page(own_world, boss, **asked, after=third.next)
    last = await _page(own_world, boss, **asked, after=empty.next)
    await own_world.admin.execute("DELETE FROM weft.usage_sum WHERE usage_on = '2020-01-01'")

    assert [row["name"] for row in third.rows] == ["zoo"]
    assert (empty.rows, empty.next) == ([], third.next + SCANNED)
    assert (last.rows, last.next) == ([], None)


async def test_page_adds_up_a_bounded_number_of_projects(own_world: World) -> None:
    """Of a member; those of a tenant have a sum. By project nothing is added up."""
    boss = await _fill(own_world)
    await own_world.api.create_project(own_world.caller, "more", cost_max=None)
    await own_world.fold()

    for by in ("user", "day", "resource"):
        with pytest.raises(ReportTooLarge):
            await _page(own_world, own_world.caller, by=by, limit=9)
        assert (await _page(own_world, boss, by=by, limit=9)).rows
    with pytest.raises(ReportTooLarge):
        await _page(own_world, boss, by="attribute", attribute="k", limit=9)
    assert len((await _page(own_world, own_world.caller, by="project", limit=9)).rows) == 3
    assert (
        len((await _page(own_world, own_world.caller, by="user", project="lab", limit=9)).rows)
        == 1
    )


async def test_usage_of_unknown_users_comes_last(own_world: World) -> None:
    """It was used before users had sums."""
    boss = await _fill(own_world)
    await own_world.fold()
    await own_world.admin.execute(
        "DELETE FROM weft.user_usage u USING weft.billing_project p "
        "WHERE p.project_id = u.project_id AND p.name = 'art'"
    )
    await own_world.admin.execute("TRUNCATE weft.usage_sum, weft.batch_usage")
    await add_up_usage(own_world.admin, date(2020, 1, 1))
    page = await _page(own_world, boss, by="user", limit=2)
    rest = await _page(own_world, boss, by="user", limit=2, after=page.next)

    assert [row["name"] for row in page.rows] == ["ada", "cyd"]
    assert [(row["kind"], row["name"]) for row in rest.rows] == [("unknown", None)]
    assert CHECK not in await own_world.findings()
