"""Limits and people hold batches before the release is complete."""

import asyncpg
import pytest

import store.test_spending as spending
from migrations.older_schema import older_schema
from store.world import open_backend, open_world
from weft.sql import files_of
from weft.store import open_admin

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
    (file,) = (one for one in files_of("migrations") if one.name == BEFORE)
    async with older_schema(empty_database["admin"], BEFORE, OLD_HOLD) as owner:
        await owner.execute(file.text)
        for _ in range(2):
            await owner.execute("SELECT weft.hold_group(1)")
        held: list[asyncpg.Record] = await owner.fetch("SELECT limit_id FROM weft.group_hold")

    assert [tuple(row) for row in held] == [(0,)]
