"""What the objects of both clients are called when somebody prints them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft
from client.http_server import Request, answer, serving
from weft import aio
from weft.client.http.address import NotRunning
from weft.client.objects.batch import Batch, JobTree
from weft.client.objects.group import JobGroup
from weft.client.objects.job import Job
from weft.client.objects.names import NoBatchOfName, NoJobOfName
from weft.client.submission.refs import Block, JobRef, ref_of
from weft.core.errors import BadId

URL = "http://weft.example:8765"


@pytest.fixture(params=["weft", "weft.aio"])
def client(request: pytest.FixtureRequest) -> Iterator[weft.Client | aio.Client]:
    if request.param == "weft.aio":
        yield aio.Client(URL, "secret")
        return
    with weft.Client(URL, "secret") as found:
        yield found


def test_a_client_says_where_its_server_is(
    client: weft.Client | aio.Client, tmp_path: Path
) -> None:
    assert repr(client) == f"<Client of {URL}>"
    assert repr(aio.Client(home=tmp_path)) == "<Client: no server is running here>"
    with weft.Client(home=tmp_path) as none, pytest.raises(NotRunning, match="weft up"):
        none.get_batch(1)
    with weft.Executor(url=URL) as executor:
        assert repr(executor) == f"<weft.Executor of {URL}: no calls yet>"


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

    batch = Batch(there.api, 7)
    assert repr(batch) == "<Batch b7>"
    assert (str(batch.id), repr(batch.id), f"b{batch.id}", batch.id + 1) == ("b7", "b7", "b7", 8)
    assert json.dumps(batch.id) == "7"
    assert repr(JobTree(there.api, 7)) == "<JobTree of b7>"
    assert repr(JobGroup(there.api, document)) == "<JobGroup b7 /a>"
    assert repr(Job(there.api, ref_of(7, 3))) == "<Job b7.j3>"
    assert repr(Job(there.api, JobRef(Block(7, 1), 3, 10))) == "<Job b7.j3-j12>"
    await there.close()


def test_tab_shows_the_public_names() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import weft; print(*dir(weft))"], check=True, capture_output=True
    )
    assert {"Client", "Executor", "aio"} <= set(done.stdout.decode().split())


def batches(request: Request) -> bytes:
    if "?" in request.target:
        return answer(200, b'{"items": [{"id": 42, "job_id": 7}], "cursor": null}')
    return answer(200, b'{"id": 42, "job_id": 7}')


@pytest.mark.parametrize("name", ["nightly", "b42", 42])
async def test_batches_and_jobs_are_found_by_names_and_ids(name: str | int) -> None:
    async with serving(batches) as server, aio.Client(server.url, "t") as client:
        batch = await client.get_batch(name)
        job, again = [await client.get_job(f"{name}.{job}") for job in ("j7", "align")]
        await client.api.set_limit({"amount_max": batch.id}, batch_id=batch.id)

    assert (batch.id, repr(job), repr(again)) == (42, *["<Job b42.j7>"] * 2)
    assert {"name=nightly&" in one.target for one in server.requests[:1]} == {name == "nightly"}
    with pytest.raises(BadId):
        await client.get_job("nightly")


async def test_a_name_that_no_batch_has_is_said() -> None:
    async with (
        serving(lambda _: answer(200, b'{"items": [], "cursor": null}')) as server,
        aio.Client(server.url, "t") as client,
    ):
        with pytest.raises(NoBatchOfName, match="nightly"):
            await client.get_batch("nightly")
        with pytest.raises(NoJobOfName, match="b42 has no job named 'align'"):
            await client.get_job("b42.align")


def test_a_frame_without_pandas_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with weft.Client(URL, "secret") as client, pytest.raises(ImportError, match="pip install"):
        client.list_batches().to_frame()
