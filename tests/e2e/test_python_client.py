"""`weft.Client` and `weft.aio.Client` as programs use them."""

from collections.abc import Iterator

import pytest

from e2e.conftest import Weft
from weft import Client, aio

pytestmark = pytest.mark.slow


@pytest.fixture
def client(weft: Weft) -> Iterator[Client]:
    with Client(home=weft.home) as found:
        yield found


def test_a_session_of_the_tree_is_cancelled_and_the_rest_runs_on(client: Client) -> None:
    bb = client.create_batch(name="sessions")
    tree = bb.job_tree()
    session = tree.create_path("/session1")
    session.create_job(["sleep", "4321"], name="driver")
    stage = tree.create_path("/session1/stage1")
    workers = [stage.create_job(["sleep", "4321"], name=f"worker{i}") for i in range(2)]
    other = tree.create_path("/session2").create_job(["echo", "hello"])
    b = bb.submit()

    b.job_tree().get_path("/session1").cancel()

    assert b.job_tree().get_path("/session1").wait()["n_cancelled"] == 3
    assert workers[1].wait()["state"] == "cancelled"
    assert other.wait()["state"] == "success"
    assert other.log() == "hello\n"
    assert b.wait()["state"] == "cancelled"
    names = [job["name"] for job in b.list_jobs()]
    assert names == ["driver", "worker0", "worker1", None]


def test_a_batch_grows_by_updates_with_parents_of_both(client: Client) -> None:
    b = (bb := client.create_batch()).submit()
    first = bb.create_job(["false"])
    bb.submit()
    bb = client.update_batch(b.id)
    child = bb.create_job(parents=[first])
    cleaner = bb.create_job(parents=[first.job_id, child], always_run=True)
    bb.submit()

    assert b.wait()["n_jobs"] == 3
    assert child.status()["state"] == "cancelled"
    assert cleaner.status()["state"] == "success"
    assert (first.job_id, child.job_id, cleaner.job_id) == (1, 2, 3)


async def test_the_asynchronous_client_has_the_same_names(weft: Weft) -> None:
    async with aio.Client(home=weft.home) as client:
        bb = client.create_batch()
        stage = bb.job_tree().create_path("/stage")
        jobs = [stage.create_job(["sh", "-c", f"exit {i}"]) for i in range(2)]
        b = await bb.submit()
        group = await b.get_job_group("stage")
        ended = await group.wait()

        assert (ended["n_succeeded"], ended["n_failed"]) == (1, 1)
        assert (await jobs[1].status())["exit_code"] == 1
        assert [job["job_id"] async for job in b.list_jobs()] == [1, 2]
        assert (await (await client.get_batch(b.id)).status())["complete"]


def test_many_jobs_go_in_bunches(client: Client) -> None:
    bb = client.create_batch()
    left, right = (bb.job_tree().create_path(path) for path in ("/a/left", "/a/right"))
    jobs = [(left if i % 2 else right).create_job(name=f"job{i}") for i in range(2_500)]
    final = left.create_job(name="final", parents=jobs)
    b = bb.submit()

    assert final.job_id == 2_501
    assert b.wait()["n_succeeded"] == 2_501
    tree = b.job_tree()
    counts = [tree.get_path(path).status()["n_jobs"] for path in ("/a", "/a/left", "/a/right")]
    assert counts == [2_501, 1_251, 1_250]
