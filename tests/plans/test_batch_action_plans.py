"""A step of an operation on many batches reads a page of them, however many there are."""

import pytest

from plans.conftest import Analyse
from plans.table_reads import reads
from plans.test_name_plans import N_BATCHES, TABLES, fill
from store.grants import leave
from store.world import World
from weft.core.access.rights import Permission
from weft.driver.operations.batch_action import STEP_BATCHES, page_query
from weft.store.queries import batch_rows

pytestmark = pytest.mark.slow
NUMBERS = 300


async def test_page_is_read_alone(own_world: World, analyse: Analyse) -> None:
    await fill(own_world)
    await analyse()
    last = await own_world.admin.fetchval("SELECT max(batch_id) FROM weft.batch")
    wrong = {}
    for text, n_found, n_looked in (
        ("", STEP_BATCHES, STEP_BATCHES),
        ("state = success", STEP_BATCHES, STEP_BATCHES),
        ("state = running", 0, NUMBERS),
        ("name =~ nobody", 0, NUMBERS),
    ):
        for below in (last + 1, last - N_BATCHES // 2):
            connection = await own_world.connect("weft_driver")
            async with reads(connection, *TABLES) as found:
                wanted = page_query(text, below, below - NUMBERS)
                rows = await batch_rows(connection, own_world.caller, wanted)
            await connection.close()
            read = {name: one.rows_scanned + one.rows_by_index for name, one in found.items()}
            assert len(rows) == n_found
            if max(read.values()) > 4 * n_looked or any(one.scans for one in found.values()):
                wrong[text, below] = read
    assert wrong == {}


async def test_page_is_read_without_all_that_was_granted(own_world: World) -> None:
    """For a user with a grant on each of very many batches."""
    await fill(own_world)
    bob = await leave(own_world, await own_world.user("bob"))
    await own_world.admin.execute(
        "INSERT INTO weft.batch_grant SELECT batch_id, $1, $2, $3, 'ada', clock_timestamp() "
        "FROM weft.batch",
        bob.user_id,
        bob.tenant_id,
        int(Permission.EXECUTE),
    )
    last = await own_world.admin.fetchval("SELECT max(batch_id) FROM weft.batch")
    for text, n_found in (("", STEP_BATCHES), ("name =~ nobody", 0)):
        connection = await own_world.connect("weft_driver")
        async with reads(connection, "batch", "batch_grant") as found:
            wanted = page_query(text, last + 1, last + 1 - NUMBERS)
            rows = await batch_rows(connection, bob, wanted)
        await connection.close()
        assert len(rows) == n_found
        for one in found.values():
            assert one.rows_scanned + one.rows_by_index <= 4 * NUMBERS


async def test_beginning_reads_no_list(own_world: World) -> None:
    await fill(own_world)
    connection = await own_world.connect("weft_api")
    async with reads(connection, "batch") as found:
        await connection.fetchval(
            "SELECT weft.begin_batch_action($1, $2, '{}'::jsonb, '', NULL, '')",
            own_world.caller.tenant_id,
            own_world.caller.user_id,
        )
    assert found["batch"].rows_scanned + found["batch"].rows_by_index <= 2
    assert not found["batch"].scans
