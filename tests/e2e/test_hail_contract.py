"""Hail's unmodified client on a weft that is up: pages, groups, callbacks, deletion, files."""

import json
import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pytest

from e2e.conftest import WITHIN_S, Weft, weft_up
from e2e.hail_client import PIPELINE, STATES, HailClient, hail_python
from web_server import Answer, Question, web_server
from weft.plugins.runners.spawner.sandbox import find_own_root

pytestmark = pytest.mark.heavy
Posts: TypeAlias = "queue.Queue[tuple[str, str, Any]]"


@pytest.fixture(scope="module")
def weft(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """Give a weft whose callbacks may go to this host, and whose jobs read a directory of it."""
    home = tmp_path_factory.mktemp("home")
    (shared := home / "shared").mkdir()
    env = {"WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.0/8", "WEFT_INPUT_PATHS": str(shared)}
    with weft_up(home, **env) as found:
        yield found


@pytest.fixture(scope="module")
def hail(weft: Weft, tmp_path_factory: pytest.TempPathFactory) -> HailClient:
    directory = tmp_path_factory.mktemp("hail")
    written = weft.told("hail-config", str(directory), "--json")
    return HailClient(hail_python(), directory, json.loads(written)["variables"])


def test_batch_from_its_creation_to_its_log(hail: HailClient) -> None:
    said = hail.run("""
b = bc.create_batch(attributes={'name': 'walk-of-hail'})
first = b.create_job('ubuntu:24.04', ['/bin/sh', '-c', 'echo $HAIL_BATCH_ID-$HAIL_JOB_ID $A'],
                     attributes={'name': 'one'}, env={'A': 'x'})
second = b.create_job('ubuntu:24.04', ['false'], parents=[first])
third = b.create_job('ubuntu:24.04', ['true'], parents=[second])
last = b.create_job('ubuntu:24.04', ['echo', 'always'], parents=[second], always_run=True)
b.submit()
status = b.wait()
say({'id': b.id, 'status': status, 'jobs': [j.status() for j in (first, second, third, last)],
     'log': first.log(), 'attempts': first.attempts(), 'codes': [first.exit_code(first.status())],
     'listed': [x.id for x in bc.list_batches()], 'in_list': list(b.jobs()),
     'by_query': [x.id for x in bc.list_batches('name=walk-of-hail')],
     'by_query_2': [x.id for x in bc.list_batches('name = walk-of-hail', version=2)]})
""")
    b = said["id"]
    states = [one["state"] for one in said["jobs"]]

    assert (said["status"]["state"], said["status"]["complete"]) == ("failure", True)
    assert states == ["Success", "Failed", "Cancelled", "Success"]
    assert said["log"] == {"main": f"{b}-1 x\n"}
    assert said["codes"] == [0]
    assert len(said["attempts"]) == 1
    assert said["listed"][0] == b
    assert said["by_query"] == said["by_query_2"] == [b]
    assert [one["job_id"] for one in said["in_list"]] == [1, 2, 3, 4]


def test_projects_regions_and_a_refusal(hail: HailClient) -> None:
    said = hail.run("""
import aiohttp
from hailtop.httpx import ClientResponseError

bc.create_billing_project('lab')
bc.add_user(user := bc.list_billing_projects()[0]['users'][0], 'lab')
bc.edit_billing_limit('lab', 7)
regions = bc.supported_regions()
try:
    BatchClient('nothing').create_batch().submit()
    refused = None
except ClientResponseError as error:
    refused = [error.status, error.body]
b = BatchClient('lab').create_batch(token='mine')
job = b.create_job('i', ['sh', '-c', 'sleep 30'], timeout=0.5, regions=regions)
missing = b.create_job('i', ['/no/such/program'])
b.submit()
b.wait()
batch = b.status()
by_state = {q: [j['job_id'] for j in b.jobs(q=q)] for q in ('bad', 'failed', 'error')}
bc.close_billing_project('lab')
bc.reopen_billing_project('lab')
say({'project': bc.get_billing_project('lab'), 'user': user, 'refused': refused, 'batch': batch,
     'cloud': bc.cloud(), 'job': job.status(), 'missing': missing.status(), 'by_state': by_state,
     'used': job.resource_usage()})
""")
    status = said["job"]["status"]["container_statuses"]["main"]

    project = said["project"]
    assert (project["users"], project["limit"]) == ([said["user"]], 7)
    assert said["used"]["main"]["columns"] == ["time_msecs", "memory_in_bytes", "cpu_usage"]
    assert said["refused"] == [403, "Unknown Hail Batch billing project nothing."]
    assert said["batch"]["token"] == "mine"
    assert (said["batch"]["state"], said["batch"]["n_failed"]) == ("failure", 2)
    assert (said["job"]["state"], said["job"]["exit_code"]) == ("Error", None)
    assert status["short_error"] == "timed out"
    assert "ContainerTimeoutError" in status["error"]
    assert said["missing"]["state"] == "Failed"
    assert said["by_state"] == {"bad": [1, 2], "failed": [2], "error": [1]}


@pytest.mark.skipif(not find_own_root().words, reason="this machine lends no mount namespace")
def test_pipeline_hands_files_on_in_a_shared_directory(weft: Weft, hail: HailClient) -> None:
    """What jobs leave for others and for the user is kept by weft. Each has a `/io` of its own,
    which this host need not have.
    """
    shared = weft.home / "shared"
    (shared / "words.txt").write_text("b\na\nb\n")
    names = f"SHARED, OUT, MORE = {f'file://{shared}'!r}, 'results/', ''\n"
    said = hail.run(names + PIPELINE)
    batch = f"b{said['id']}"

    assert (said["states"], said["code"], said["log"]) == (STATES, 3, "")
    assert (said["batch"]["state"], said["batch"]["attributes"]) == ("failure", {"name": "files"})
    assert weft.told("files", "cat", f"{batch}.j3", "results/counts.txt").split() == [
        b"1",
        b"a",
        b"2",
        b"b",
    ]
    assert weft.told("files", "cat", f"{batch}.j1", "results/words.txt") == b"b\na\nb\n"
    assert b"what is there stays: file://" in weft.told("logs", f"{batch}.j5")


@contextmanager
def receiver() -> "Iterator[tuple[str, Posts]]":
    """Give the address of a receiver of callbacks, and what it got."""
    posts: Posts = queue.Queue()

    def answer(asked: Question) -> Answer:
        posts.put((asked.path, asked.headers["Content-Type"], json.loads(asked.body)))
        return Answer(status=500)  # it is sent once, whatever is answered

    with web_server(answer) as url:
        yield url, posts


def test_callbacks_of_groups_and_batch_arrive_once(hail: HailClient) -> None:
    with receiver() as (url, posts):
        said = hail.run(f"""
b = bc.create_batch(callback='{url}/batch', token='called')
outer = b.create_job_group(callback='{url}/outer', attributes={{'name': 'outer'}})
inner = outer.create_job_group(callback='{url}/inner')
first = inner.create_job('i', ['true'])
outer.create_job('i', ['false'], parents=[first])
b.create_job('i', ['true'])
b.submit()
b.wait()
say({{'batch': b.status(), 'outer': outer.status(), 'inner': inner.status()}})
""")
        got = {}
        for _ in range(3):
            path, media, document = posts.get(timeout=WITHIN_S)
            got[path] = document
            assert media == "application/json"

    documents = {f"/{name}": document for name, document in said.items()}
    assert got == documents
    assert posts.empty()
    assert (got["/batch"]["token"], got["/batch"]["state"]) == ("called", "failure")
    assert got["/inner"]["time_completed"] <= got["/outer"]["time_completed"]


def test_lists_have_pages_of_fifty(hail: HailClient) -> None:
    """The client reads all of them."""
    said = hail.run("""
import asyncio

async def fill():
    client = await aioclient.BatchClient.create('default')
    made = []
    for n in range(103):
        b = client.create_batch(attributes={'paged': 'yes'})
        await b.submit(disable_progress_bar=True)
        made.append(b.id)
    b = client.create_batch()
    groups = [b.create_job_group() for _ in range(101)]
    for n in range(100):
        groups[n].create_job('i', ['true'])
    await b.submit(disable_progress_bar=True)
    await b.wait(disable_progress_bar=True)
    said = {'made': made,
            'listed': [x.id async for x in client.list_batches('paged=yes')],
            'groups': [x.job_group_id async for x in b.job_groups()],
            'jobs': [x['job_id'] async for x in b.jobs()]}
    await client.close()
    return said

say(asyncio.run(fill()))
""")

    assert said["listed"] == said["made"][::-1]
    assert said["groups"] == list(range(1, 102))
    assert said["jobs"] == list(range(1, 101))


_GROWING = """
import pathlib
from hailtop.httpx import ClientResponseError

b = bc.create_batch()
outer = b.create_job_group(attributes={'name': 'outer'})
inner = outer.create_job_group()
first = inner.create_job('i', ['sh', '-c', 'while ! [ -e GATE ]; do sleep 0.05; done'])
b.submit()
first._wait_for_states('Running')
more = b.create_job_group()
child = more.create_job('i', ['true'], parents=[first])
clean = inner.create_job('i', ['echo', 'cleaned'], parents=[first], always_run=True)
stopped = inner.create_job('i', ['sleep', '600'])
b.submit()
running = b.status()
said = {'child': child.status()['state'], 'running': [running['state'], running['n_jobs']],
        'counts': [g.status()['n_jobs'] for g in (outer, inner, more)]}
inner.cancel()
said['stopped'] = stopped.wait()['state']
said['first'] = first.wait()
said['attempt'] = first.attempts()
pathlib.Path('GATE').touch()
done = b.wait()
said |= {'clean': clean.log()['main'], 'done': [done['state'], done['n_completed']],
         'after': [j['state'] for j in b.jobs()], 'outer': outer.status()['state'],
         'inner': inner.status()['state'], 'more': more.status()['state'],
         'in_inner': [j['job_id'] for j in inner.jobs()],
         'below_outer': [j['job_id'] for j in outer.jobs(recursive=True)]}
try:
    inner.create_job('i', ['true'])
    b.submit()
except ClientResponseError as error:
    said['refused'] = [error.status, error.body]
later = bc.get_batch(b.id)
for _ in range(2):
    later.delete()  # the client takes a 404 for done
gone = []
for ask in (later.status, lambda: bc.get_job(b.id, 1), lambda: list(later.jobs()), later.cancel,
            later.delete):
    try:
        ask()
    except ClientResponseError as error:
        gone.append(error.status)
say({**said, 'gone': gone, 'listed': b.id in [x.id for x in bc.list_batches()]})
"""


def test_batch_grows_while_its_jobs_run(hail: HailClient) -> None:
    """In groups, of which one is cancelled; then the batch is deleted."""
    gate = hail.directory / "gate"
    said = hail.run(_GROWING.replace("GATE", str(gate)))

    assert (said["child"], said["running"]) == ("Pending", ["running", 4])
    assert said["counts"] == [3, 3, 1]
    assert (said["stopped"], said["first"]["state"]) == ("Cancelled", "Cancelled")
    assert (said["first"]["exit_code"], said["attempt"][0]["reason"]) == (None, "cancelled")
    assert (said["clean"], said["done"]) == ("cleaned\n", ["cancelled", 4])
    assert said["after"] == ["Cancelled", "Cancelled", "Success", "Cancelled"]
    assert (said["outer"], said["inner"], said["more"]) == ("cancelled",) * 3
    assert (said["in_inner"], said["below_outer"]) == ([1, 3, 4], [1, 3, 4])
    assert said["refused"][0] == 400
    assert said["refused"][1].startswith("bunch contains job where the job group has already")
    assert (said["gone"], said["listed"]) == ([404] * 4, False)


def test_what_else_the_client_can_do(hail: HailClient) -> None:
    """Groups that stop, raw logs, updates in bunches, projects, and `hailctl`."""
    said = hail.run("""
import os, subprocess, sys
small = {'cpu': '0.25', 'memory': 'lowmem'}
b = bc.create_batch(cancel_after_n_failures=1)
bad = b.create_job('i', ['sh', '-c', 'echo raw; exit 1'], resources=small)
b.create_job('i', ['sleep', '600'], resources=small)
b.submit()
ended = b.wait()
u = bc.create_batch()
u.create_job('i', ['true'], resources=small)
u.submit()
for _ in range(5):
    u.create_job('i', ['true'], resources=small)
u.submit(max_bunch_size=2)
whole = bc.create_batch()
waits = whole.create_job('i', ['sleep', '600'], resources=small)
whole.submit()
whole.cancel()
user = bc.get_billing_project('default')['users'][0]
bc.create_billing_project('gone')
bc.add_user(user, 'gone')
bc.remove_user(user, 'gone')
bc.close_billing_project('gone')
bc.delete_billing_project('gone')
def ctl(*words):
    program = os.path.join(os.path.dirname(sys.executable), 'hailctl')
    done = subprocess.run([program, *words], capture_output=True, text=True)
    return done.stdout + done.stderr
say({
    'ended': [ended['state'], ended['n_cancelled']], 'raw': bad.container_log('main').decode(),
    'whole': [whole.wait()['state'], waits.status()['state']],
    'n': u.wait()['n_succeeded'], 'region': bc.default_region(), 'user': user,
    'auth': ctl('auth', 'user'), 'log': ctl('batch', 'log', str(b.id), '1'),
})
""")

    assert (said["ended"], said["raw"]) == (["failure", 1], "raw\n")
    assert (said["n"], said["region"]) == (6, "local")
    assert said["whole"] == ["cancelled", "Cancelled"]
    assert said["user"] in said["auth"]
    assert "raw" in said["log"]
