"""Jobs get files from stores and leave them there, on a real server of S3 (`tests/servers/s3.sh`).

Two buckets, opened in two ways; what opens them is found nowhere.
"""

import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from contexts import fixture_of
from e2e.agave_client import AgaveClient, agave_python
from e2e.conftest import Weft, until, weft_up
from e2e.hail_client import PIPELINE, STATES, HailClient, hail_python
from e2e.s3_server import Buckets, s3_server
from e2e.test_workers_outside import Outside, submit

pytestmark = pytest.mark.engine(name="s3")

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "coming-from-hail.md"
PART = 5 << 20
"""The smallest part that S3 takes."""
LARGE = f"head -c {2 * PART + 7} /dev/zero > large.bin"

SECRET, OF_ENVIRONMENT = "canary-of-the-secret", "canary-of-the-environment"
OPENS = {"AWS_ACCESS_KEY_ID": "AKIAENVIRONMENT", "AWS_SECRET_ACCESS_KEY": OF_ENVIRONMENT}
buckets = fixture_of(lambda: s3_server("genomes", "results"), "module")


@pytest.fixture(scope="module")
def weft(buckets: Buckets, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weft]:
    """Give a weft with a store of each kind."""
    settings = {
        "WEFT_STORE_PRIVATE_HOSTS": "127.0.0.0/8",
        "WEFT_STORE_BUCKETS": "genomes",
        "WEFT_STORE_SINGLE_BYTES_MAX": f"{PART}",
    }
    with weft_up(tmp_path_factory.mktemp("home"), **settings, **OPENS) as found:
        found.told("secret", "set", "results-key", stdin=f"AKIASECRET:{SECRET}".encode())
        at = ("--endpoint", buckets.url)
        found.told("store", "add", "genomes", "s3://genomes", "--access", "read", "--env", *at)
        results = ("results", "s3://results/lab-7", "--access", "write")
        found.told("store", "add", *results, "--secret", "results-key", *at)
        yield found


def run(weft: Weft, *jobs: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Run jobs; return their batch and what became of them."""
    batch = weft.submit(*jobs, name="stores")
    weft.run("wait", batch)
    listed = json.loads(weft.told("jobs", batch, "--json"))
    return batch, sorted(listed, key=lambda one: int(one["job_id"]))


def count(*, checksum: str | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 (fields of a job)
    """Return a job that reads one store and writes the other."""
    of = {"from": "store://genomes/hg/one.txt", "env": "ONE"}
    return {
        "script": 'env; wc -c < "$ONE" > count.txt; mkdir out; cp "$ONE" out/',
        "inputs": [of if checksum is None else {**of, "checksum": checksum}],
        "outputs": [
            {"from": "count.txt", "to": "store://results/counts/"},
            {"from": "out/", "to": "store://results/"},
        ],
        **more,
    }


def test_a_store_is_tried_before_a_job_needs_it(weft: Weft, buckets: Buckets) -> None:
    assert weft.told("store", "test", "results") == (
        b"write   works\nread    works\nremove  works\n"
    )
    assert weft.told("store", "test", "genomes") == b"read    works\n"
    assert b".weft-trial" not in buckets.ask("GET", "results")
    at = ("--access", "write", "--secret", "results-key", "--endpoint")
    weft.told("store", "add", "nowhere", "s3://no-such", *at, buckets.url)
    weft.told("store", "add", "silent", "s3://results", *at, "http://127.0.0.1:9")

    missing = weft.run("store", "test", "nowhere", "--json")
    away = weft.run("store", "test", "silent")

    (step,) = json.loads(missing.stdout)["steps"]
    assert (missing.returncode, step["step"]) == (1, "write")
    assert step["problem"] == "the bucket no-such does not exist (NoSuchBucket)"
    assert (away.returncode, away.stdout) == (1, b"write   127.0.0.1:9 does not answer\n")


def found_below(home: Path, canary: str) -> list[str]:
    """Return the files of a home, those of its database included, that hold a text."""
    return [
        str(path)
        for path in home.rglob("*")
        if path.is_file() and not path.is_symlink() and canary.encode() in path.read_bytes()
    ]


def test_files_travel_between_two_stores_and_no_job_sees_what_opens_them(
    weft: Weft, buckets: Buckets
) -> None:
    data = os.urandom(3 << 20) + b"end"
    buckets.ask("PUT", "genomes/hg/one.txt", data)
    digest = hashlib.sha256(data).hexdigest()

    batch, (job, after) = run(
        weft,
        count(name="count", checksum=f"sha256:{digest}"),
        {
            "script": "cat counts",
            "parents": ["count"],
            "inputs": [{"from": "store://results/counts/count.txt", "to": "counts"}],
        },
    )

    assert (job["state"], after["state"]) == ("success", "success"), (job, after)
    assert buckets.ask("GET", "results/lab-7/out/one.txt") == data
    assert weft.told("logs", f"{batch}.j2").decode() == f"{len(data)}\n"
    listed = json.loads(weft.told("files", "ls", f"{batch}.j1", "--json"))
    kept = {one["path"]: (one["bytes"], one["sha256"]) for one in listed}
    assert kept["store://results/out/one.txt"] == (len(data), digest)
    shown = b"".join(
        weft.told(*words)
        for words in (
            ("logs", f"{batch}.j1"),
            ("status", f"{batch}.j1", "--json"),
            ("store", "ls"),
            ("store", "show", "results", "--json"),
            ("trail", "--json"),
        )
    ).decode()
    for canary in (SECRET, OF_ENVIRONMENT):
        assert canary not in shown
        assert found_below(weft.home, canary) == []


def test_what_many_jobs_need_is_fetched_once(weft: Weft, buckets: Buckets) -> None:
    """Until it changes; they ask for that, unless they know what it must be."""
    job = {"script": "cat many.txt", "inputs": [{"from": "store://genomes/many.txt"}]}
    sum_of_one = f"sha256:{hashlib.sha256(b'one').hexdigest()}"
    knows = {**job, "inputs": [{"from": "store://genomes/many.txt", "checksum": sum_of_one}]}
    buckets.ask("PUT", "genomes/many.txt", b"one")
    run(weft, *[job] * 20)
    run(weft, *[knows] * 5)
    first = buckets.answers("GET", "genomes/many.txt")
    buckets.ask("PUT", "genomes/many.txt", b"two")
    batch, jobs = run(weft, *[job] * 20)

    said = weft.told("logs", f"{batch}.j20")
    assert (said, {one["state"] for one in jobs}) == (b"two", {"success"})
    again = buckets.answers("GET", "genomes/many.txt")[len(first) :]
    assert first.count(200) == again.count(200) == 1
    assert {*first, *again} == {200, 304}


def test_archive_of_agave_is_in_the_store_that_it_names(
    weft: Weft, buckets: Buckets, tmp_path: Path
) -> None:
    """Listed and read by its own client, and by weft; also what was replaced there is noticed."""
    (tmp_path / "run.sh").write_text('mkdir made; cat "$data" > made/said.txt; exit $code')
    described = {
        "name": "giver",
        "version": "1.0",
        "templatePath": "run.sh",
        "inputs": [{"id": "data"}],
        "parameters": [{"id": "code", "value": {"type": "number", "default": 0}}],
    }
    (tmp_path / "app.json").write_text(json.dumps(described))
    weft.told("app", "add", str(tmp_path))
    buckets.ask("PUT", "genomes/in/a%20b.txt", b"of a store")
    known = json.loads((weft.home / "client.json").read_text())
    client = AgaveClient(agave_python(), tmp_path, known["url"], known["token"])
    said = client.run("""
asked = {'name': 'x', 'appId': 'giver-1.0', 'inputs': {'data': 'agave://genomes/in/a%20b.txt'}}
job = ag.jobs.submit(body={**asked, 'archiveSystem': 'results', 'archivePath': 'of/${JOB_NAME}'})
wait(job['id'], *ENDED)
(entry,) = ag.jobs.listOutputs(jobId=job['id'], filePath='made')
href = entry['_links']['self']['href']
part = requests.get(href, headers={'Authorization': 'Bearer ' + T, 'Range': 'bytes=3-5'})
wrong = status_of(ag.jobs.submit, body={**asked, 'archiveSystem': 'genomes'})
say(dict(job=ag.jobs.get(jobId=job['id']), entry=entry, text=ag.geturl(href).text,
         history=[one['status'] for one in ag.jobs.getHistory(jobId=job['id'])],
         part=[part.status_code, part.text], wrong=wrong))
""")
    assert said["history"][-2:] == ["ARCHIVING", "FINISHED"], said["job"]["lastStatusMessage"]
    assert (said["text"], said["part"], said["wrong"]) == ("of a store", [206, "a s"], 400)
    assert said["entry"]["path"] == "/made/said.txt"
    at = "lab-7/of/x/made/said.txt"
    assert buckets.ask("GET", f"results/{at}") == b"of a store"
    job, path = said["job"]["remoteJobId"], "store://results/of/x/made/said.txt"
    assert weft.told("files", "cat", job, path) == b"of a store"
    weft.told("files", "get", job, "--to", str(tmp_path / "got"))
    assert (tmp_path / "got" / "of" / "x" / "made" / "said.txt").read_bytes() == b"of a store"
    buckets.ask("PUT", f"results/{at}", b"another")
    changed = weft.run("files", "cat", job, path)
    assert (changed.returncode, b"another size" in changed.stderr) == (4, True)


def test_archive_of_agave_is_told_while_it_is_written(
    weft: Weft, http: httpx.Client, tmp_path: Path
) -> None:
    """To a store that does not answer: status and history, and what weft says of the job, which
    is stopped then.
    """
    (tmp_path / "run.sh").write_text("echo x > out.txt")
    (tmp_path / "app.json").write_text(
        json.dumps({"name": "leaver", "version": "1.0", "templatePath": "run.sh"})
    )
    weft.told("app", "add", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        at = f"http://127.0.0.1:{silent.getsockname()[1]}"
        weft.told(
            "store",
            "add",
            "silent",
            "s3://genomes",
            "--access",
            "write",
            "--env",
            "--endpoint",
            at,
        )
        asked = {"name": "x", "appId": "leaver-1.0", "archiveSystem": "silent", "archivePath": "p"}
        path = f"/jobs/v2/{http.post('/jobs/v2', json=asked).json()['result']['id']}"
        until(lambda: http.get(f"{path}/status").json()["result"]["status"] == "ARCHIVING")
        live = http.get(f"{path}/history").json()["result"]
        job = http.get(path).json()["result"]["remoteJobId"]
        shown = json.loads(weft.told("status", job, "--json"))
        assert http.post(f"{path}/stop").status_code == 200
        until(lambda: http.get(f"{path}/status").json()["result"]["status"] == "STOPPED")
        after = http.get(f"{path}/history").json()["result"]

    assert [one["status"] for one in live][-3:] == ["RUNNING", "CLEANING_UP", "ARCHIVING"]
    said = "its outputs are copied to store://silent/p/"
    assert (shown["phase"], shown["message"]) == ("collecting", said)
    assert after[: len(live)] == live


def test_what_is_wrong_is_said_with_the_name_of_the_file(weft: Weft, buckets: Buckets) -> None:
    """A wrong checksum, an object that is missing, one that changed since a job left it."""
    buckets.ask("PUT", "genomes/hg/one.txt", b"one")
    wrong, missing = count(checksum=f"sha256:{'0' * 64}"), count()
    missing["inputs"] = [{"from": "store://genomes/none.txt"}]
    _, jobs = run(weft, wrong, missing)
    assert [one["reason"] for one in jobs] == ["files", "files"]
    assert "store://genomes/hg/one.txt" in jobs[0]["message"]
    assert "store://genomes/none.txt is missing" in jobs[1]["message"]

    document = {"jobs": [count(outputs=[{"from": "a", "to": "store://genomes/"}])]}
    refused = weft.run("submit", "-", stdin=json.dumps(document).encode())
    assert b"nothing is written to store 'genomes'" in refused.stderr


def test_a_worker_outside_gets_urls_for_its_jobs_and_no_key(
    weft: Weft, buckets: Buckets, tmp_path: Path
) -> None:
    buckets.ask("PUT", "genomes/hg/one.txt", b"outside")
    with Outside(weft, tmp_path, WEFT_STORE_PRIVATE_HOSTS="127.0.0.0/8").running():
        batch = submit(weft, tmp_path, [count()])
        weft.run("wait", batch)
        (job,) = json.loads(weft.told("jobs", batch, "--json"))

        assert job["state"] == "success", job
        assert buckets.ask("GET", "results/lab-7/out/one.txt") == b"outside"
        listed = json.loads(weft.told("files", "ls", f"{batch}.j1", "--json"))
        assert {one["bytes"] for one in listed} == {2, 7}
    for canary in (SECRET, OF_ENVIRONMENT):
        assert found_below(tmp_path, canary) == []


def tags(buckets: Buckets, bucket: str) -> dict[str, str]:
    """Return the tags of objects, which say of how many parts they are; no upload is left."""
    assert b"<Upload>" not in buckets.ask("GET", f"{bucket}?uploads")
    listed = buckets.ask("GET", bucket).decode().split("<Contents>")[1:]
    return {
        one.partition("<Key>")[2].partition("<")[0]: one.partition("<ETag>")[2].partition("<")[0]
        for one in listed
    }


@pytest.mark.parametrize("where", ["here", "outside"])
def test_a_large_object_is_stored_in_parts(
    weft: Weft, buckets: Buckets, tmp_path: Path, where: str
) -> None:
    job: dict[str, object] = {
        "script": LARGE,
        "outputs": [{"from": "large.bin", "to": "store://results/"}],
    }
    more = {"WEFT_STORE_PRIVATE_HOSTS": "127.0.0.0/8", "WEFT_STORE_SINGLE_BYTES_MAX": f"{PART}"}
    if where == "outside":
        with Outside(weft, tmp_path, **more).running():
            batch = submit(weft, tmp_path, [job])
            weft.run("wait", batch)
    else:
        batch, _ = run(weft, job)

    (listed,) = json.loads(weft.told("files", "ls", f"{batch}.j1", "--json"))
    assert listed["bytes"] == 2 * PART + 7
    assert tags(buckets, "results")["lab-7/large.bin"].endswith('-3"')
    assert buckets.ask("GET", "results/lab-7/large.bin") == bytes(2 * PART + 7)
    buckets.ask("DELETE", "results/lab-7/large.bin")


def test_messages_of_a_sink_are_objects(weft: Weft, buckets: Buckets, tmp_path: Path) -> None:
    """One for each product, under a key with its values."""
    line = tmp_path / "line.toml"
    line.write_text(
        '[sink.archive]\nkind = "s3"\nstore = "results"\nproducts = true\n'
        'key = "catalogue/${product.tile}/${job.attributes.day:%Y}/${job.id}.json"\n'
    )
    weft.told("line", "apply", str(line))
    product = '{"tile": "32TLR", "path": "map"}'
    jobs = [
        {
            "script": f"echo x > map; echo '{product}' >> $WEFT_PRODUCTS",
            "outputs": [{"from": "map", "to": "store://results/maps/${product.tile}/"}],
            "attributes": {"day": "2027-04-13"},
        }
    ]
    document = json.dumps({"sink": "archive", "jobs": jobs}).encode()
    batch = weft.told("submit", "-", stdin=document).decode().strip()
    weft.run("wait", batch)

    def is_sent() -> bool:
        sent = json.loads(weft.told("line", "deliveries", "archive", "--json"))
        return [one["state"] for one in sent] == ["delivered"]

    until(is_sent)
    path = f"results/lab-7/catalogue/32TLR/2027/{batch}.j1.json"
    assert json.loads(buckets.ask("GET", path)) == {"tile": "32TLR", "path": "map"}
    assert buckets.ask("GET", "results/lab-7/maps/32TLR/map") == b"x\n"


def test_objects_of_a_store_become_jobs(weft: Weft, buckets: Buckets) -> None:
    """More than one page, below the prefix of the store; the key opens the list, too."""
    for n in range(7):
        buckets.ask("PUT", f"results/lab-7/scenes/{n}.zip", f"{n}".encode())
    buckets.ask("PUT", "results/lab-8/scenes/other.zip", b"x")
    line = """
[source.scenes]
kind = "s3"
store = "results"
prefix = "scenes/"
pattern = "*.zip"
every = "1s"
job = "read"
[job.read]
command = ["cat", "scene"]
inputs = [{ from = "store://results/${item.path}", to = "scene" }]
"""
    (weft.home / "line.toml").write_text(line)
    weft.told("line", "apply", str(weft.home / "line.toml"))
    try:
        until(lambda: len(items(weft)) == 7 and all(".j" in job for job in items(weft).values()))
        found = items(weft)
        assert sorted(found) == [f"scenes/{n}.zip" for n in range(7)]
        job = found["scenes/3.zip"]
        weft.run("wait", job)
        assert weft.told("logs", job) == b"3"
        assert SECRET.encode() not in weft.told("source", "items", "scenes", "--json")
        tried = json.loads(weft.told("source", "test", "scenes", "--json"))
        assert tried["n_items"] == 7
    finally:
        weft.told("line", "rm", "line")


def items(weft: Weft) -> dict[str, str]:
    found = json.loads(weft.told("source", "items", "scenes", "--json") or b"[]")
    return {one["key"]: one["job"] or one["state"] for one in found}


def test_pipelines_of_hails_client_have_their_files_in_a_store(
    weft: Weft, buckets: Buckets, tmp_path: Path
) -> None:
    """A command of more than 10 KiB goes there, too; the client itself writes it. And what the
    guide says is run as it stands there.
    """
    written = weft.told("hail-config", str(tmp_path), "--json")
    hail = HailClient(hail_python(), tmp_path, json.loads(written)["variables"])
    buckets.ask("PUT", "results/lab-7/words.txt", b"b\na\nb\n")
    top, long = "s3://results/lab-7", f": {'x' * 11_000}\n"
    names = f"SHARED, OUT, MORE = {top!r}, {f'{top}/out/'!r}, {long!r}\n"
    said = hail.run(names + PIPELINE, {**OPENS, "AWS_ENDPOINT_URL": buckets.url})
    (code,) = re.findall(r"```python\n(import hailtop.batch .*?)```", GUIDE.read_text(), re.DOTALL)
    hail.run(f"{code}say(0)")

    assert buckets.ask("GET", "results/lab-7/counts.txt").split() == [b"1", b"a", b"2", b"b"]
    assert said["states"] == STATES
    assert buckets.ask("GET", "results/lab-7/out/counts.txt").split() == [b"1", b"a", b"2", b"b"]
    assert buckets.ask("GET", "results/lab-7/out/words.txt") == b"b\na\nb\n"
