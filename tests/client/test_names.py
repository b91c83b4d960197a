"""What the objects of both clients are called when somebody prints them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from weft import aio
from weft.client.objects.batch import Batch, JobTree
from weft.client.objects.group import JobGroup
from weft.client.objects.job import Job
from weft.client.submission.refs import Block, JobRef, ref_of

URL = "http://weft.example:8765"


@pytest.fixture(params=["weft", "weft.aio"])
def client(request: pytest.FixtureRequest) -> Iterator[weft.Client | aio.Client]:
    if request.param == "weft.aio":
        yield aio.Client(URL, "secret")
        return
    with weft.Client(URL, "secret") as found:
        yield found


def test_a_client_says_where_its_server_is(client: weft.Client | aio.Client) -> None:
    assert repr(client) == f"<Client of {URL}>"


def test_a_client_without_a_server_says_so(tmp_path: Path) -> None:
    assert repr(aio.Client(home=tmp_path)) == "<Client: no server is running here>"


def test_a_builder_says_what_it_collects(client: weft.Client | aio.Client) -> None:
    builder = client.create_batch(name="letters")
    tree = builder.job_tree()
    job = builder.create_job(["true"])
    group = tree.create_path("/a")
    group.create_job(["true"])

    assert repr(builder) == "<BatchBuilder of new batch 'letters', 2 jobs not submitted yet>"
    assert repr(group) == "<GroupBuilder of new batch 'letters' /a, 2 jobs not submitted yet>"
    assert repr(tree) == "<JobTreeBuilder of new batch 'letters'>"
    assert repr(job) == "<Job that is not submitted yet>"
    assert repr(client.update_batch(7)) == "<BatchBuilder of b7, 0 jobs not submitted yet>"
    assert repr(client.create_batch()) == "<BatchBuilder of new batch, 0 jobs not submitted yet>"


async def test_what_exists_has_the_name_that_the_command_line_takes() -> None:
    there = aio.Client(URL)
    document = {"batch_id": 7, "group_id": 2, "name": "a", "path": "/a"}

    assert repr(Batch(there.api, 7)) == "<Batch b7>"
    assert repr(JobTree(there.api, 7)) == "<JobTree of b7>"
    assert repr(JobGroup(there.api, document)) == "<JobGroup b7 /a>"
    assert repr(Job(there.api, ref_of(7, 3))) == "<Job b7.j3>"
    assert repr(Job(there.api, JobRef(Block(7, 1), 3, 10))) == "<Job b7.j3-j12>"
    await there.close()


def test_an_executor_says_where_it_is() -> None:
    with weft.Executor(url=URL) as executor:
        assert repr(executor) == f"<weft.Executor of {URL}: no calls yet>"
