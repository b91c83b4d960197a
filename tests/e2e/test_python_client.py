"""`weft.Client` and `weft.aio.Client` as programs use them."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft
from weft import Client, aio
from weft.core.errors import BadId, GroupExists, JobNotFound

pytestmark = pytest.mark.slow
client = fixture_of(lambda weft: Client(home=weft.home))


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


def test_sets_of_few_and_of_many_jobs(client: Client) -> None:
    bb = client.create_batch()
    bb.create_job_group("early").create_job(["true"])
    b = bb.submit()
    bb = client.update_batch(b.id)
    stage = bb.job_tree().create_path("/stage")
    many = bb.create_job_group("many", cancel_after_n_failures=3)
    for _ in range(2_100):
        stage.create_job(groups=[many, "early", "late"])
    both = many.create_job(groups=["late"])
    bb.submit()
    b.wait()

    def n_jobs(name: str) -> int:
        return int(b.get_job_group(name).status()["n_jobs"])

    assert [n_jobs(n) for n in ("early", "many", "late", "stage")] == [2_101, 2_101, 2_101, 2_100]
    assert b.get_job_group("many").status()["cancel_after_n_failures"] == 3
    assert len(both.status()["groups"]) == 2


def test_a_group_is_made_once(client: Client) -> None:
    bb = client.create_batch()
    bb.create_job_group("a")
    with pytest.raises(GroupExists):
        bb.create_job_group("a")
    b = bb.submit()
    bb = client.update_batch(b.id)
    bb.job_tree().create_path("/t", cancel_after_n_failures=1)
    bb.submit()

    bb.job_tree().create_path("/t")
    bb.submit()
    bb.create_job_group("a")
    for _ in range(2_001):
        bb.create_job()
    with pytest.raises(GroupExists):
        bb.submit()
    bb.job_tree().create_path("/t", cancel_after_n_failures=2)
    for _ in range(2_001):
        bb.create_job()
    with pytest.raises(GroupExists):
        bb.submit()
    assert b.status()["n_jobs"] == 0


def test_a_set_is_filled_by_hand(client: Client) -> None:
    bb = client.create_batch()
    for _ in range(3):
        bb.create_job()
    b = bb.submit()
    group = client.create_job_group(b.id, "picked", attributes={"why": "test"})
    group.add_job(3)
    group.add_job(1)
    group.add_job(1)

    assert group.update()["added"] == 2
    group.add_job(1)
    answer = group.update()
    assert (answer["added"], answer["n_members"]) == (0, 2)
    assert group.update()["n_members"] == 2
    again = client.create_job_group(b.id, "picked", attributes={"why": "test"})
    assert again.group_id == group.group_id
    group.add_job(4)
    with pytest.raises(JobNotFound):
        group.update()


def test_group_is_found_by_its_path_with_or_without_the_first_slash(client: Client) -> None:
    bb = client.create_batch()
    bb.job_tree().create_path("/a/b").create_job()
    b = bb.submit()

    for find in (b.get_job_group, b.job_tree().get_path):
        found = [find(path).path for path in ("/a/b", "a/b", "/a", "a")]
        assert found == ["/a/b", "/a/b", "/a", "/a"]
        with pytest.raises(BadId):
            find("")


def test_names_and_attributes_are_changed(client: Client) -> None:
    bb = client.create_batch(name="before")
    group = bb.job_tree().create_path("/a/b")
    job = group.create_job([Path("/bin/pwd")], cwd=Path("/tmp"), attributes={"k": "v", "l": "w"})
    b = bb.submit()
    above = b.job_tree().get_path("/a")
    above.edit(name="c", attributes={"x": "y"})

    assert (above.name, above.path) == ("c", "/c")
    assert b.job_tree().get_path("/c/b").status()["n_jobs"] == 1
    assert b.edit(name="after")["name"] == "after"
    assert job.edit(attributes={"k": None, "m": "n"})["attributes"] == {"l": "w", "m": "n"}
    job.wait()
    assert job.log() == "/tmp\n"


async def test_a_client_may_be_used_by_one_loop_after_the_other(weft: Weft) -> None:
    client = aio.Client(home=weft.home)

    def use() -> None:
        found = asyncio.run(client.create_batch().submit(progress=False))
        assert asyncio.run(found.wait())["complete"]

    await asyncio.to_thread(use)


QUIET_WHEN_SLOW = """
import logging
logging.getLogger("asyncio").setLevel(logging.ERROR)  # a slow machine is no warning
"""


@pytest.mark.parametrize(
    "script",
    [
        """
from weft import Client
client = Client()
b = client.create_batch(name="unclosed").submit()
print(b.wait()["complete"], next(client.list_batches())["name"])
""",
        """
import asyncio
import subprocess
import sys
from weft import aio
client = aio.Client()

async def main():
    b = await client.create_batch(name="unclosed").submit()
    print((await b.wait())["complete"], "unclosed")

asyncio.run(main())
""",
    ],
    ids=["sync", "async"],
)
def test_a_client_need_not_be_closed(weft: Weft, script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", QUIET_WHEN_SLOW + script],
        check=False,
        capture_output=True,
        text=True,
        env=weft.environment(),
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "True unclosed\n", "")


def test_a_query_that_finds_nothing_tells_why(client: Client) -> None:
    bb = client.create_batch(attributes={"a": "b"})
    bb.create_job(attributes={"sample": "x"})
    b = bb.submit()
    b.wait()
    doubted, found = b.list_jobs("sampel = x"), b.list_jobs("sample = x")

    assert list(doubted) == []
    assert "sampel" in doubted.warnings[0]
    assert [job["job_id"] for job in found] == [1]
    assert list(found.warnings) == []


def test_reasons_are_counted(client: Client) -> None:
    bb = client.create_batch()
    bb.create_job(script="exit $WEFT_INDEX", count=3)
    group = bb.create_job_group("g")
    group.create_job(["no-such-program"])
    b = bb.submit()
    b.wait()

    assert {(one["reason"], one["exit_code"]): one["n_jobs"] for one in b.count_reasons()} == {
        ("exit", 1): 1,
        ("exit", 2): 1,
        ("no_program", None): 1,
    }
    assert [one["first_job"] for one in b.get_job_group("g").count_reasons()] == [4]


def test_an_array_is_one_entry_and_many_jobs(client: Client) -> None:
    bb = client.create_batch()
    first = bb.create_job()
    array = bb.create_job_group("array").create_job(
        ["echo", "part $WEFT_INDEX"], count=5, index_from=10, parents=[first]
    )
    after = bb.create_job(parents=[array])
    b = bb.submit()
    later = bb.create_job(parents=[array])
    bb.submit()

    assert b.wait()["n_succeeded"] == 8
    assert (array.count, array.job_id, after.job_id, later.job_id) == (5, 2, 7, 8)
    assert array.element(4).job_id == 6
    assert array.element(4).log() == "part 14\n"
    assert after.status()["parents"] == later.status()["parents"] == [2, 3, 4, 5, 6]
    assert b.get_job_group("array").status()["n_jobs"] == 5
    with pytest.raises(IndexError):
        array.element(5)


def test_an_array_over_values_gives_each_job_its_own(client: Client) -> None:
    bb = client.create_batch()
    array = bb.create_job(["echo", "{value} at $WEFT_INDEX"], values=["a b", "$WEFT_INDEX"])
    script = bb.create_job(script='echo "$WEFT_ARRAY_VALUE"', values=["x;y"], index_from=3)
    b = bb.submit()

    assert b.wait()["n_succeeded"] == 3
    assert [array.element(n).log() for n in range(2)] == ["a b at 0\n", "$WEFT_INDEX at 1\n"]
    assert script.log() == "x;y\n"
    assert script.status()["index"] == 3


def test_a_large_array_is_cut_into_parts(client: Client) -> None:
    bb = client.create_batch()
    array = bb.create_job_group("all").create_job(["sleep", "4321"], count=150_000)
    last = bb.create_job(["sleep", "4321"])
    b = bb.submit()
    b.cancel()

    assert (array.job_id, last.job_id) == (1, 150_001)
    assert b.get_job_group("all").status()["n_jobs"] == 150_000


async def test_clients_call_functions(weft: Weft, client: Client) -> None:
    assert list(client.map(pow, [2, 3], [3, 2])) == [8, 9]
    assert client.submit(pow, 2, exp=4).result() == 16
    async with aio.Client(home=weft.home) as other:
        assert await (await other.submit(pow, 2, exp=5)) == 32
