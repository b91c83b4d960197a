"""Hail's unmodified client on a weft that is up."""

import json

import pytest

from e2e.conftest import Weft
from e2e.hail_client import HailClient, hail_python
from weft.plugins.runners.spawner.sandbox import find_own_root

pytestmark = pytest.mark.heavy


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


def test_bunches_updates_cancel_and_delete(hail: HailClient) -> None:
    said = hail.run("""
b = bc.create_batch()
group = b.create_job_group(attributes={'name': 'g'}, cancel_after_n_failures=1)
inner = group.create_job_group()
for n in range(120):
    (inner if n % 2 else b).create_job('i', ['true'], attributes={'n': str(n)})
b.submit(max_bunch_size=20)
status = b.wait()
more = b.create_job('i', ['sleep', '600'])
b.submit()
b.cancel()
cancelled = b.wait()
groups = list(b.job_groups())
say({'n': status['n_jobs'], 'state': status['state'], 'job_ids': [j['job_id'] for j in b.jobs()],
     'more': more.job_id, 'cancelled': cancelled['state'], 'last': more.status()['state'],
     'group': group.status(), 'inner': [j['job_id'] for j in inner.jobs()],
     'groups': [g.job_group_id for g in groups]})
b.delete()
""")

    assert (said["n"], said["state"]) == (120, "success")
    assert said["job_ids"] == list(range(1, 122))
    assert (said["more"], said["cancelled"], said["last"]) == (121, "cancelled", "Cancelled")
    assert (said["group"]["n_jobs"], said["group"]["state"]) == (60, "cancelled")
    assert said["inner"] == list(range(2, 121, 2))
    assert said["groups"] == [1]


def test_projects_regions_and_a_refusal(hail: HailClient) -> None:
    said = hail.run("""
import aiohttp
from hailtop.httpx import ClientResponseError

made = bc.create_billing_project('lab')
bc.add_user(bc_user := bc.list_billing_projects()[0]['users'][0], 'lab')
limit = bc.edit_billing_limit('lab', 7)
project = bc.get_billing_project('lab')
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
closed = bc.get_billing_project('lab')['status']
bc.reopen_billing_project('lab')
say({'made': made, 'user': bc_user, 'limit': limit, 'project': project, 'refused': refused,
     'regions': regions, 'cloud': bc.cloud(), 'batch': batch, 'job': job.status(),
     'missing': missing.status(), 'by_state': by_state, 'closed': closed})
""")
    status = said["job"]["status"]["container_statuses"]["main"]

    assert (said["made"], said["closed"]) == ("lab", "closed")
    assert said["project"]["users"] == [said["user"]]
    assert said["project"]["limit"] == 7
    assert said["refused"] == [403, "Unknown Hail Batch billing project nothing."]
    assert said["batch"]["token"] == "mine"
    assert (said["batch"]["state"], said["batch"]["n_failed"]) == ("failure", 2)
    assert (said["job"]["state"], said["job"]["exit_code"]) == ("Error", None)
    assert ("ContainerTimeoutError" in status["error"], status["short_error"]) == (
        True, "timed out",
    )  # fmt: skip
    assert said["missing"]["state"] == "Failed"
    assert said["by_state"] == {"bad": [1, 2], "failed": [2], "error": [1]}


@pytest.mark.skipif(not find_own_root().words, reason="this machine lends no mount namespace")
def test_batches_of_the_service_backend(hail: HailClient) -> None:
    """Its jobs make directories below `/io`, which this host need not have."""
    said = hail.run("""
import hailtop.batch as hb

backend = hb.ServiceBackend(billing_project='default', remote_tmpdir='gs://weft/tmp',
                            gcs_bucket_allow_list=['weft'])
b = hb.Batch(backend=backend, name='service')
first = b.new_job(name='one')
first.command('echo hello > $BATCH_TMPDIR/x && cat $BATCH_TMPDIR/x')
second = b.new_bash_job(name='two', attributes={'k': 'v'})
second.depends_on(first)
second.cpu(0.25)
second.command('ls $BATCH_TMPDIR && exit 3')
handle = b.run(open=False, disable_progress_bar=True)
jobs = list(handle.jobs())
say({'batch': handle.status(), 'jobs': jobs,
     'logs': [handle.get_job_log(j['job_id'])['main'] for j in jobs]})
""")

    assert [one["state"] for one in said["jobs"]] == ["Success", "Failed"]
    assert said["jobs"][1]["exit_code"] == 3
    assert "hello" in said["logs"][0]
    assert "x" not in said["logs"][1].split()
    assert said["batch"]["attributes"]["name"] == "service"


def test_usage_attributes_queries_and_refusals(hail: HailClient) -> None:
    """What a long job used, and each operator of the second query language."""
    said = hail.run("""
from hailtop.httpx import ClientResponseError

b = bc.create_batch(attributes={'name': 'queried'}, token='again')
long = b.create_job('i', ['sleep', '11'], attributes={'name': 'long', 'tag': 'blue'})
other = b.create_job('i', ['true'], attributes={'tag': 'green'}, n_max_attempts=2)
b.submit()
b.wait()
used = long.resource_usage()
found = {q: [j['job_id'] for j in b.jobs(q=q, version=2)] for q in (
    'tag = blue', 'tag != blue', 'tag =~ e', 'tag !~ ue', '"blue"', 'ee', 'job_id >= 2',
    'duration > 5', 'exit_code == 0', 'state = success\\ntag = green', 'exit_code = NULL')}
refused = []
for q in ('job_id > x', 'state > 1', 'a b c d'):
    try:
        list(b.jobs(q=q, version=2))
    except ClientResponseError as error:
        refused.append(error.status)
same = bc.create_batch(token='again')
same.create_job('i', ['false'])
same.submit()
try:
    bad = bc.create_batch()
    bad.create_job('i', ['true'], timeout=-1)
    bad.submit()
except ClientResponseError as error:
    refused.append(error.body)
b.delete()
try:
    bc.get_batch(b.id)
except ClientResponseError as error:
    refused.append(error.status)
say({'used': used, 'found': found, 'refused': refused, 'same': same.id == b.id})
""")

    assert said["used"]["main"]["columns"] == ["time_msecs", "memory_in_bytes", "cpu_usage"]
    assert 1 <= len(said["used"]["main"]["data"]) <= 2  # one in 5 s
    assert said["found"] == {
        "tag = blue": [1], "tag != blue": [2], "tag =~ e": [1, 2], "tag !~ ue": [2],
        '"blue"': [1], "ee": [2], "job_id >= 2": [2], "duration > 5": [1],
        "exit_code == 0": [1, 2], "state = success\ntag = green": [2], "exit_code = NULL": [],
    }  # fmt: skip
    assert said["refused"][:3] == [400, 400, 400]
    assert "jobs[0].timeout does not satisfy" in said["refused"][3]
    assert said["refused"][4] == 404
    assert said["same"]
