"""Sums that are kept beside what they count: the audit finds each that is changed."""

from store.pool_rows import add_machine, described
from store.world import World

WRONG = {
    "loads_of_pools_are_counted": (
        "UPDATE weft.pool_load SET running_m = running_m + 1",
        "DELETE FROM weft.pool_load",
    ),
    "machines_are_counted": (
        "UPDATE weft.machine_sum SET n = n + 1",
        "UPDATE weft.machine_sum SET price_from = price_from + 1",
    ),
    "stored_bytes_are_counted": (
        "UPDATE weft.batch_storage SET n_bytes = n_bytes + 1",
        "UPDATE weft.user_storage SET n_bytes = n_bytes + 1 WHERE user_id = 0",
    ),
    "usage_by_resource_equals_usage": (
        "TRUNCATE weft.usage_sum",
        "UPDATE weft.usage_sum SET cpu = cpu - 1 WHERE project_id = 0 AND user_id = 0",
        "UPDATE weft.usage_sum SET memory = 0 WHERE project_id > 0 AND user_id > 0",
    ),
    "users_are_counted": (
        "UPDATE weft.user_count SET n_ready = n_ready + 1",
        "INSERT INTO weft.user_count VALUES (1, 9, 9, 1, 0, 0, 0, 0, 0)",
        "UPDATE weft.user_count SET n_ready = 1 WHERE user_id = 0 AND project_id = 0",
        "DELETE FROM weft.user_count",
    ),
    "workers_are_counted": (
        "UPDATE weft.worker_sum SET n_workers = n_workers + 1",
        "UPDATE weft.worker_sum SET cpu_m = cpu_m + 1",
        "UPDATE weft.worker_sum SET memory_mib = memory_mib + 1",
        "DELETE FROM weft.worker_sum",
    ),
}


async def test_each_wrong_sum_is_found(own_world: World) -> None:
    async with described(own_world):
        await add_machine(own_world)
        _, worker, (ended, _) = await own_world.submit_and_claim(5, limit=2)
        await worker.end(ended, start_age_us=1_000_000)
        await own_world.fold()
        assert WRONG.keys().isdisjoint(await own_world.findings())
        for check, changes in WRONG.items():
            for change in changes:
                assert {*await own_world.findings_after(change)} == {check}, change
