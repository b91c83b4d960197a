"""Pages of reports: together they are what the whole report says."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from store.test_reports import run
from store.usage_sums import add_up_usage
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.errors import ReportTooLarge
from weft.ports.store import Caller, ReportQuery

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
    )  # fmt: skip
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
