"""Pools, from what is known of workers and queues."""

from typing import Any

from weft.cli.commands.pool import pools_of


def worker(pool: str, state: str = "active", **more: object) -> dict[str, Any]:
    return {"pool": pool, "state": state, "cpu": 2.0, "memory": 2**30, "n_running": 1, **more}


def test_pools_have_the_sums_of_their_live_workers_and_their_queues() -> None:
    workers = [
        worker("a"),
        worker("a", "draining"),
        worker("a", "lost"),
        worker("b", n_running=None),
    ]
    queues = [{"name": "short", "pools": ["b", "a"]}, {"name": "default", "pools": ["default"]}]

    assert pools_of(workers, queues) == [
        {"pool": "a", "n_workers": 2, "cpu": 4.0, "memory": 2**31, "n_running": 2,
         "queues": ["short"]},
        {"pool": "b", "n_workers": 1, "cpu": 2.0, "memory": 2**30, "n_running": 0,
         "queues": ["short"]},
        {"pool": "default", "n_workers": 0, "cpu": 0, "memory": 0, "n_running": 0,
         "queues": ["default"]},
    ]  # fmt: skip
