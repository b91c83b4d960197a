"""Limits and people hold batches before the release is complete."""

import asyncpg
import pytest

import store.test_spending as spending
from migrations.older_schema import older_schema, upgraded
from store.world import open_backend, open_world
from weft.store import open_admin

pytestmark = pytest.mark.heavy  # a migration that was released does not change any more
BEFORE = "0075_pre_spend_limits"
OLD_HOLD = """
    INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, trace_id, created_at)
    VALUES (1, 1, 1, 1, '', now());
    CREATE FUNCTION weft.hold_group(of_batch_id bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO weft.group_hold AS h (batch_id, group_id, tenant_id, held_at)
        VALUES (of_batch_id, 0, 1, now())
        ON CONFLICT (batch_id, group_id) DO UPDATE SET released_at = NULL;
    END $$;
"""

BEFORE_ANYONE = "0079_pre_limits_of_anyone"
OLD_LIMITS = """
    CREATE FUNCTION weft._set_limit(of_tenant_id int, of_project_id int, patch jsonb)
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO weft.spend_limit AS l
            (tenant_id, project_id, cost_max, cost_soft_max, on_limit)
        VALUES (of_tenant_id, of_project_id, (patch ->> 'cost_max')::numeric,
            (patch ->> 'cost_soft_max')::numeric, 'pause')
        ON CONFLICT (project_id) DO UPDATE SET version = l.version + 1,
            cost_max = CASE WHEN patch ? 'cost_max' THEN excluded.cost_max ELSE l.cost_max END,
            cost_soft_max = coalesce(excluded.cost_soft_max, l.cost_soft_max);
    END $$;
    CREATE FUNCTION weft.limit_rounds(epoch bigint)
    RETURNS TABLE (limit_id int, cost_max numeric, cost_soft_max numeric) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
        RETURN QUERY SELECT l.limit_id, l.cost_max, l.cost_soft_max FROM weft.spend_limit l
        WHERE l.project_id IN (SELECT x.project_id FROM weft.spend_limit x
            WHERE x.cost_max IS NOT NULL OR x.cost_soft_max IS NOT NULL);
    END $$;
    SELECT weft._set_limit(1, 1, '{"cost_max": 7}');
"""

BEFORE_REMOVALS = "0094_pre_user_removals"
SOFT_LIMITS = """
    INSERT INTO weft.spend_limit
        (tenant_id, project_id, user_id, measure, amount_max, amount_soft_max)
    VALUES (1, 1, NULL, 'cost', 300, 400), (1, NULL, 1, 'cpu', 3, 4), (1, 1, NULL, 'gpu', NULL, 5),
        (1, NULL, 1, 'memory', 3, 2), (1, 1, NULL, 'storage', 5, NULL);
"""

BEFORE_UNUSED = "0110_post_unused_parts"
DELETED = """
    INSERT INTO weft.billing_project (tenant_id, name, closed_at, deleted_at)
    VALUES (1, 'gone', now(), now()), (1, 'off', now(), now());
    INSERT INTO weft.spend_limit (tenant_id, project_id, user_id, measure, amount_max, on_limit)
    VALUES (1, 1, NULL, 'cost', 1, 'pause'), (1, 2, NULL, 'cost', 1, 'pause'),
        (1, 3, NULL, 'cost', 1, 'cancel');
"""
OLD_FOLD = """
    CREATE FUNCTION weft._count_usage(used weft.usage_part[]) RETURNS void LANGUAGE sql AS '';
"""


@pytest.mark.parametrize("first", ["person", "limit"])
async def test_holds_are_apart_before_the_contract_step(
    empty_database: dict[str, str], first: str
) -> None:
    async with older_schema(empty_database["admin"], BEFORE, "SELECT"):
        async with open_admin(empty_database["admin"]) as admin:
            await admin.migrate()
            assert "0076_post_spend_limits" in (await admin.status()).to_contract
        async with open_backend(empty_database) as backend, open_world(backend) as world:
            await spending.test_holds_of_persons_and_limits_are_apart(world, first)


async def test_function_of_the_release_before_holds_until_it_is_replaced(
    empty_database: dict[str, str],
) -> None:
    async with upgraded(empty_database["admin"], BEFORE, OLD_HOLD) as owner:
        for _ in range(2):
            await owner.execute("SELECT weft.hold_group(1)")
        held: list[asyncpg.Record] = await owner.fetch("SELECT limit_id FROM weft.group_hold")

    assert [tuple(row) for row in held] == [(0,)]


async def test_limits_are_read_and_set_by_the_release_before_until_it_is_replaced(
    empty_database: dict[str, str],
) -> None:
    """The columns have other names, and projects have one limit for each measure."""
    async with upgraded(empty_database["admin"], BEFORE_ANYONE, OLD_LIMITS) as owner:
        before = await owner.fetch("SELECT * FROM weft.limit_rounds(1)")
        await owner.execute("SELECT weft._set_limit(1, 1, '{\"cost_soft_max\": 3}')")
        after = await owner.fetch("SELECT * FROM weft.limit_rounds(1)")

    assert [tuple(row) for row in (*before, *after)] == [(1, 7, None), (1, 7, 3)]


async def test_soft_limit_above_the_limit_becomes_the_limit(
    empty_database: dict[str, str],
) -> None:
    """Else the limit could not be raised to less than the soft one."""
    async with upgraded(empty_database["admin"], BEFORE_REMOVALS, SOFT_LIMITS) as owner:
        found = await owner.fetch(
            "SELECT amount_max, amount_soft_max FROM weft.spend_limit ORDER BY measure"
        )

    assert [tuple(row) for row in found] == [(300, 300), (3, 3), (None, 5), (3, 2), (5, None)]


async def test_limits_of_projects_deleted_earlier_pause_no_more(
    empty_database: dict[str, str],
) -> None:
    """Nobody could raise them, and what waits for one would wait for ever."""
    async with upgraded(empty_database["admin"], BEFORE_UNUSED, DELETED) as owner:
        found = await owner.fetch("SELECT on_limit, version FROM weft.spend_limit ORDER BY 1, 2")

    assert [tuple(row) for row in found] == [("cancel", 1), ("cancel", 2), ("pause", 1)]


async def test_parts_go_with_the_functions_of_earlier_programs(
    empty_database: dict[str, str],
) -> None:
    async with upgraded(empty_database["admin"], BEFORE_UNUSED, OLD_FOLD) as owner:
        left = await owner.fetchval("SELECT to_regtype('weft.usage_part')")

    assert left is None
