"""The door for clients of Agave, by Agave's own client and by plain requests."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from e2e.agave_client import AgaveClient, agave_python
from e2e.conftest import Weft, until
from web_server import Answer, Question, web_server

WRAPPER = """\
echo "says ${say} ${times} in $AGAVE_JOB_ID for $AGAVE_JOB_OWNER of $AGAVE_JOB_TENANT"
echo oops >&2
mkdir made; printf "%s" "${say}" > made/said.txt; ln -s /etc/passwd link
if [ -n "$data" ]; then cat "$data"; fi
if [ "$wait" = 1 ]; then sleep 60; fi
exit ${code}
"""
TERMINAL = {"FINISHED", "FAILED", "STOPPED"}


@pytest.fixture(scope="module")
def agave(weft: Weft, tmp_path_factory: pytest.TempPathFactory) -> AgaveClient:
    folder = tmp_path_factory.mktemp("teller")
    (folder / "wrapper.sh").write_text(WRAPPER)
    described = {
        "name": "teller",
        "version": "1.0",
        "templatePath": "wrapper.sh",
        "deploymentPath": ".",
        "executionSystem": "local",
        "inputs": [{"id": "data"}],
        "defaultMaxRunTime": "00:10:00",
        "defaultMemoryPerNode": "256MB",
        "defaultProcessorsPerNode": 1,
        "parameters": [
            {"id": "say", "value": {"type": "string", "required": True, "validator": "[a-z]+"}},
            {"id": "times", "value": {"type": "number", "default": 2}},
            {"id": "wait", "value": {"type": "bool", "default": False}},
            {"id": "code", "value": {"type": "number", "default": 0}},
        ],
    }
    (folder / "app.json").write_text(json.dumps(described))
    weft.told("app", "add", str(folder))
    known = json.loads((weft.home / "client.json").read_text())
    return AgaveClient(
        agave_python(), tmp_path_factory.mktemp("client"), known["url"], known["token"]
    )


@pytest.fixture
def http(agave: AgaveClient) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {agave.token}"}
    with httpx.Client(base_url=agave.url, headers=headers, timeout=30) as client:
        yield client


def job(name: str = "a job", **parameters: object) -> dict[str, Any]:
    return {"name": name, "appId": "teller-1.0", "parameters": {"say": "hello", **parameters}}


def submitted(http: httpx.Client, document: dict[str, Any]) -> dict[str, Any]:
    answer = http.post("/jobs/v2", json=document)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()["result"]
    return found


def status(http: httpx.Client, job_id: str) -> str:
    return str(http.get(f"/jobs/v2/{job_id}/status").json()["result"]["status"])


def ended(http: httpx.Client, job_id: str) -> dict[str, Any]:
    until(lambda: status(http, job_id) in TERMINAL)
    found: dict[str, Any] = http.get(f"/jobs/v2/{job_id}").json()["result"]
    return found


@pytest.mark.heavy
def test_own_client_walks_through_a_job(agave: AgaveClient) -> None:
    """It submits, waits, reads, lists, and finds outputs where the answers say."""
    said = agave.run("""
asked = {'name': 'First walk', 'appId': 'teller-1.0', 'parameters': {'say': 'x'}}
job = ag.jobs.submit(body=asked)
AgaveAsync = importlib.import_module('agavepy.async').AgaveAsyncResponse
ends = AgaveAsync(ag, job).result(timeout=60)
found = ag.jobs.get(jobId=job['id'])
listed = ag.jobs.list(limit=1)
history = ag.jobs.getHistory(jobId=job['id'])
files = [ag.jobs.listOutputs(jobId=job['id'], filePath=path) for path in ('', '/')]
out = next(one for one in files[0] if one['name'].endswith('.out'))
text = ag.geturl(out['_links']['self']['href']).text
ag.download_uri(out['_links']['self']['href'], 'local.out')
again = ag.jobs.manage(jobId=job['id'], body={'action': 'resubmit'})
wait(again['id'], *ENDED)
wrong = status_of(ag.jobs.submit, body={'name': 'x', 'appId': 'gone-1.0'})
apps = [ag.apps.list(), ag.apps.get(appId='teller-1.0')]
no_app = status_of(ag.apps.get, appId='gone-1.0')
pems = ag.jobs.listPermissions(jobId=job['id'])
ag.jobs.delete(jobId=job['id'])
reads = (ag.jobs.get, ag.jobs.delete, ag.jobs.getHistory)
gone = [status_of(call, jobId=job['id']) for call in reads]
ag.jobs.manage(jobId=job['id'], body={'action': 'restore'})
back = status_of(ag.jobs.get, jobId=job['id'])
stranger = status_of(client('wrong').jobs.get, jobId=job['id'])
say(dict(job=job, ends=ends, found=found, listed=listed, history=history, files=files, text=text,
         local=open('local.out').read(), again=again, wrong=wrong, pems=pems, gone=gone, back=back,
         types=[type(found[one]).__name__ for one in ('started', 'ended')], stranger=stranger,
         apps=apps, no_app=no_app))
""")
    job_id = said["job"]["id"]
    assert job_id.endswith("-007")
    assert said["job"]["status"] in {"PENDING", "SUBMITTING"}  # a worker is quick
    assert said["ends"] == "FINISHED"
    assert (said["found"]["status"], said["found"]["remoteOutcome"]) == ("FINISHED", "FINISHED")
    assert said["types"] == ["datetime", "datetime"]
    assert said["listed"][0]["id"] == job_id
    assert [one["status"] for one in said["history"]] == [
        "PENDING",
        "PROCESSING_INPUTS",
        "STAGING_JOB",
        "SUBMITTING",
        "QUEUED",
        "RUNNING",
        "CLEANING_UP",
        "ARCHIVING",
        "FINISHED",
    ]
    assert said["files"][0] == said["files"][1]
    names = [f"first-walk-{job_id}.out", f"first-walk-{job_id}.err"]
    assert [one["name"] for one in said["files"][0]] == [*names, "made"]
    assert said["text"] == said["local"]
    owner = said["found"]["owner"]
    assert said["text"] == f"says x 2 in {job_id} for {owner} of {said['found']['tenantId']}\n"
    assert said["again"]["id"] != job_id
    assert (said["wrong"], said["gone"], said["back"]) == (400, [404, 404, 404], 200)
    assert said["pems"][0]["username"] == said["found"]["owner"]
    assert said["stranger"] == 401
    assert [one["id"] for one in said["apps"][0]] == ["teller-1.0"]
    assert (said["apps"][1]["name"], said["apps"][1]["version"]) == ("teller", "1.0")
    assert said["apps"][1]["parameters"][0]["id"] == "say"
    assert said["no_app"] == 404


@pytest.mark.heavy
def test_archive_is_where_it_was_asked_for(weft: Weft, agave: AgaveClient) -> None:
    """Of a job with inputs; of a failed one if it says so, else its directory is kept alone."""
    said = agave.run("""
def ran(name, code=0, **more):
    asked = {'name': name, 'appId': 'teller-1.0', 'parameters': {'say': 'kept', 'code': code}}
    job = ag.jobs.submit(body={**asked, **more})
    wait(job['id'], *ENDED)
    files = ag.jobs.listOutputs(jobId=job['id'], filePath='made')
    return dict(job=ag.jobs.get(jobId=job['id']), files=files,
                text=ag.geturl(files[0]['_links']['self']['href']).text,
                history=[one['status'] for one in ag.jobs.getHistory(jobId=job['id'])])

path = '/runs//${JOB_NAME}/${APP_ID}'
first = ran('First Run', archivePath=path)
data = 'agave://weft/runs/first-run/teller-1.0/made/said.txt'
say([first, ran('taker', inputs={'data': data}, archivePath='runs/taken'),
     ran('failed', 3, archiveOnAppError=True), ran('skipped', 3), ran('none', archive=False)])
""")
    ends = ["RUNNING", "CLEANING_UP", "ARCHIVING"]
    staged = ["PENDING", "PROCESSING_INPUTS", "STAGING_INPUTS", "STAGED", "STAGING_JOB"]
    first, taker, failed, skipped, none = said
    assert first["job"]["archivePath"] == "runs/first-run/teller-1.0"
    assert taker["history"] == [*staged, "SUBMITTING", "QUEUED", *ends, "FINISHED"]
    assert failed["history"][-4:] == [*ends, "FAILED"]
    assert skipped["history"][-3:] == ["RUNNING", "CLEANING_UP", "FAILED"]
    assert none["history"][-2:] == ["CLEANING_UP", "FINISHED"]
    outcomes = [one["job"]["remoteOutcome"] for one in (taker, failed, skipped)]
    assert outcomes == ["FINISHED", "FAILED", "FAILED_SKIP_ARCHIVE"]
    for one, place in (
        (first, "runs/first-run/teller-1.0/"),
        (taker, "runs/taken/"),
        (failed, f"{failed['job']['archivePath']}/"),
        (skipped, ""),
        (none, ""),
    ):
        assert [file["path"] for file in one["files"]] == ["/made/said.txt"]
        assert one["text"] == "kept"
        kept = json.loads(weft.run("files", "ls", one["job"]["remoteJobId"], "--json").stdout)
        inputs = [f"{place}said.txt"] if one is taker else []
        assert [file["path"] for file in kept] == [f"{place}made/said.txt", *inputs]


def test_ended_jobs_of_agave_are_imported(
    weft: Weft, agave: AgaveClient, http: httpx.Client, tmp_path: Path
) -> None:
    """Its own client reads them; a wrong line is named, and then nothing is taken over."""
    owner = json.loads(weft.run("whoami", "--json").stdout)["user"]
    at = "2024-05-01T1{}:00:00Z"
    old = {
        "id": "0a-007",
        "name": "old",
        "owner": owner,
        "appId": "gone-1.0",
        "status": "FINISHED",
        "created": at.format(0),
        "ended": at.format(2),
    }
    event = {"jobId": "0a-007", "status": "RUNNING", "created": at.format(1)}
    dump = tmp_path / "dump.jsonl"
    dump.write_text("\n".join(map(json.dumps, (event, old, {**old, "id": "0b-007", "owner": 7}))))
    wrong = weft.run("import", "agave", str(dump))
    assert b"line 3, owner: expected a text" in wrong.stderr
    assert http.get("/jobs/v2/0a-007").status_code == 404
    dump.write_text("\n".join(map(json.dumps, (event, old))))
    for n_new in (1, 0):
        done = weft.run("import", "agave", str(dump), "--json")
        told = {"n_jobs": 1, "n_new": n_new, "n_known": 1 - n_new}
        assert json.loads(done.stdout) == told, done.stderr
    said = agave.run("""
job = ag.jobs.get(jobId='0a-007')
say([job['status'], job['created'], [x['status'] for x in ag.jobs.getHistory(jobId='0a-007')]])
""")
    assert (said[0], said[2]) == ("FINISHED", ["PENDING", "RUNNING", "FINISHED"])


def test_archives_that_cannot_be_are_refused(http: httpx.Client) -> None:
    for name, wrong in (
        ("archiveSystem", "none"),
        ("archivePath", "a/../b"),
        ("archivePath", "a/${HOME}"),
        ("archivePath", "/"),
    ):
        answer = http.post("/jobs/v2", json={**job(), name: wrong})
        assert (answer.status_code, answer.json()["message"].split(":")[0]) == (400, name)


@pytest.mark.parametrize("verb", ["POST", "PUT"])
def test_job_is_stopped(http: httpx.Client, verb: str) -> None:
    """By either verb, once; its history and status tell the same."""
    job_id = submitted(http, job(wait=True))["id"]
    until(lambda: status(http, job_id) == "RUNNING")
    outputs = f"/jobs/v2/{job_id}/outputs"
    until(lambda: http.get(f"{outputs}/media/made/said.txt").text == "hello")
    seen = http.get(f"{outputs}/listings").json()["result"]
    assert [one["name"] for one in seen[2:]] == ["made"]
    part = http.get(f"{outputs}/media/made/said.txt", headers={"range": "bytes=1-2"})
    assert (part.status_code, part.text) == (206, "el")
    for gone in ("link", "made/none", "../plan", "made"):
        assert http.get(f"{outputs}/media/{gone}").status_code == 404
    stop = {"action": "stop"}
    assert http.request(verb, f"/jobs/v2/{job_id}", json=stop).status_code == 200
    assert ended(http, job_id)["status"] == "STOPPED"
    history = http.get(f"/jobs/v2/{job_id}/history").json()["result"]
    assert history[-1]["status"] == "STOPPED"
    assert http.request(verb, f"/jobs/v2/{job_id}", data=stop).status_code == 409


def test_failure_says_why(http: httpx.Client) -> None:
    found = ended(http, submitted(http, job(code=3))["id"])
    assert (found["status"], found["remoteOutcome"]) == ("FAILED", "FAILED_SKIP_ARCHIVE")
    assert "exit code 3" in found["lastStatusMessage"]


def test_what_a_job_leaves_is_found_and_another_gets_it(http: httpx.Client) -> None:
    """By the address of the output, and by that of the archive; not what is a link, or was there
    before.
    """
    job_id = ended(http, submitted(http, job("giver", say="x"))["id"])["id"]
    listings, media = (f"/jobs/v2/{job_id}/outputs/{one}" for one in ("listings", "media"))
    (found,) = http.get(f"{listings}/made").json()["result"]
    assert (found["path"], found["length"], found["type"]) == ("/made/said.txt", 1, "file")
    assert http.get(f"{listings}/made/said.txt").json()["result"] == [found]
    assert http.get(found["_links"]["self"]["href"]).text == "x"
    for gone in ("link", "wrapper.sh", "made/none", "made", "../made/said.txt"):
        assert http.get(f"{media}/{gone}").status_code == 404
    archive = http.get(f"/jobs/v2/{job_id}").json()["result"]["archivePath"]
    for source in (found["_links"]["self"]["href"], f"agave://weft/{archive}/made/said.txt"):
        again = ended(http, submitted(http, {**job("taker"), "inputs": {"data": source}})["id"])
        assert (again["status"], again["inputs"]) == ("FINISHED", {"data": source})
        out = http.get(f"/jobs/v2/{again['id']}/outputs/media/taker-{again['id']}.out")
        assert out.text.endswith("\nx")
        history = http.get(f"/jobs/v2/{again['id']}/history").json()["result"]
        assert [one["status"] for one in history][2:4] == ["STAGING_INPUTS", "STAGED"]
    wrongs: tuple[dict[str, object], ...] = (
        {"data": "http://127.0.0.1/a"},
        {"data": "http://x.example/"},
        {"data": "sftp://x/a"},
        {"data": "rel/path"},
        {"data": 7},
        {"none": "x"},
        {"data": "agave://other/a"},
        {"data": ["file:///a/x", "file:///b/x"]},
        {"data": f"agave://weft/{archive}/../x"},
    )
    for wrong in wrongs:
        answer = http.post("/jobs/v2", json={**job(), "inputs": wrong})
        assert answer.status_code == 400, wrong
        assert answer.json()["message"].startswith(f"inputs.{next(iter(wrong))}: ")


def test_inputs_come_from_web_servers(http: httpx.Client) -> None:
    def answer(asked: Question) -> Answer:
        is_there = asked.path == "/sets/fox%20data.txt?v=2"
        return Answer(b"from afar") if is_there else Answer(status=404)

    with web_server(answer, "127.0.0.2") as url:
        base = f"{url}/sets/"
        source = f"{base}fox%20data.txt?v=2"
        found = ended(http, submitted(http, {**job("afar"), "inputs": {"data": source}})["id"])
        assert (found["status"], found["inputs"]) == ("FINISHED", {"data": source})
        out = http.get(f"/jobs/v2/{found['id']}/outputs/media/afar-{found['id']}.out")
        assert out.text.endswith("\nfrom afar")
        gone = {**job("gone"), "inputs": {"data": f"{base}none"}}
        found = ended(http, submitted(http, gone)["id"])
        assert (found["status"], found["started"]) == ("FAILED", None)
        assert "answers with 404" in found["lastStatusMessage"]


def test_paths_and_parameters_are_those_of_agave(http: httpx.Client) -> None:
    job_id = ended(http, submitted(http, job("Its Ways"))["id"])["id"]
    for path in ("/jobs", "/jobs/", "/jobs/v2", "/jobs/v2/", "/jobs//v2//"):
        assert http.get(path, params={"limit": 1}).json()["result"][0]["id"] == job_id
    one = f"/jobs/v2/{job_id}"
    whole = http.get(one).json()
    assert whole["result"]["_links"]["self"]["href"] == str(http.base_url.join(one))
    assert (whole["status"], whole["version"] > "2.2.22-r7deb380") == ("success", True)
    assert http.get(one, params={"naked": "true"}).json() == whole["result"]
    assert b"\n" in http.get(one, params={"pretty": "true"}).content
    chosen = http.get(one, params={"filter": "id,_links.self.href,nothing"}).json()["result"]
    assert chosen == {"id": job_id, "_links": {"self": whole["result"]["_links"]["self"]}}
    listed = http.get("/jobs", params={"filter": "parameters", "limit": 1}).json()["result"]
    assert listed == [{"parameters": whole["result"]["parameters"]}]
    name = f"its-ways-{job_id}.out"
    media = f"{one}/outputs/media/{name}"
    content = http.get(media)
    part = http.get(media, headers={"range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, content.content[:4])
    assert part.headers["content-range"] == f"bytes 0-3/{len(content.content)}"
    beyond = http.get(media, headers={"range": "bytes=9999-"})
    size = http.head(media).headers["content-length"]
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
    head = http.head(media)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(content.content)))
    for path in ("x", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd"):
        assert http.get(f"{one}/outputs/media/{path}").status_code == 404


def test_lists_are_searched_and_sorted(http: httpx.Client) -> None:
    """By parameters, and by pairs in the path."""
    ids = [
        ended(http, submitted(http, job(name, code=code))["id"])["id"]
        for name, code in (("found it", 0), ("found it", 1), ("lost it", 0))
    ]

    def found(path: str = "/jobs/v2", **query: str) -> list[str]:
        answer = http.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["result"]]

    assert found(name="found it") == [ids[1], ids[0]]
    assert found(**{"name.like": "found*", "status": "failed"}) == [ids[1]]
    assert found(name="found it", sortBy="created", sort="asc") == ids[:2]
    assert found(name="found it", limit="1", offset="1") == [ids[0]]
    assert found("/jobs/v2/search/name/found it/status.neq/FAILED") == [ids[0]]
    assert len(found("/jobs/v2/search/name")) >= 3
    for wrong in ({"status": "GONE"}, {"limit": "x"}, {"sortBy": "x"}, {"created.on": "x"}):
        assert http.get("/jobs/v2", params=wrong).status_code == 400


def test_permissions_let_others_in(weft: Weft, http: httpx.Client) -> None:
    """A member of the billing project sees nothing before."""
    made = weft.told("user", "add", "agnes", "--json")
    headers = {"authorization": f"Bearer {json.loads(made)['token']}"}
    told = [{"url": "https://ada:pw@receiver.example/", "event": "FINISHED"}]
    asked = {**job("shared", wait=True), "notifications": told}
    path = f"/jobs/v2/{submitted(http, asked)['id']}"
    with httpx.Client(base_url=http.base_url, headers=headers, timeout=30) as agnes:
        assert agnes.get(path).status_code == 404
        given = http.post(f"{path}/pems", json={"username": "agnes", "permission": "read"})
        assert given.status_code == 201, given.text
        assert given.json()["result"]["permission"] == {"read": True, "write": False}
        assert agnes.get(path).status_code == 200
        assert agnes.get("/jobs/v2").json()["result"][0]["name"] == "shared"
        assert agnes.post(path, json={"action": "stop"}).status_code == 403
        assert agnes.post(f"{path}/pems/agnes", json={"permission": "ALL"}).status_code == 403
        assert agnes.post(path, json={"action": "reset"}).status_code == 403
        for word, may in (("all", True), ("WRITE", False)):
            given = http.post(f"{path}/pems/agnes", json={"permission": word})
            assert given.json()["result"]["permission"] == {"read": may, "write": True}
        assert agnes.post(path, json={"action": "stop"}).status_code == 200
        ended(http, path.rpartition("/")[2])
        refused = agnes.post(f"{path}/resubmit")
        assert (refused.status_code, "login" in refused.json()["message"]) == (403, True)
        again = agnes.post(f"{path}/resubmit", json={"preserveNotifications": False})
        again = again.json()["result"]
        assert again["owner"] == "agnes"
        assert agnes.post(f"/jobs/v2/{again['id']}/stop").status_code in {200, 409}
        assert http.delete(f"{path}/pems").status_code == 200
        for user in ("agnes", "AGNES"):  # nothing is given, and the row stays until it is removed
            http.post(f"{path}/pems", json={"username": user, "permission": "EXECUTE"})
            shown = http.get(f"{path}/pems/agnes").json()["result"]
            assert shown["permission"] == {"read": False, "write": False}
            assert http.delete(f"{path}/pems/{user}").status_code == 200
            assert http.get(f"{path}/pems/agnes").status_code == 404
        assert agnes.get(path).status_code == 404
    history = [one["status"] for one in http.get(f"{path}/history").json()["result"]]
    changes = [one.removeprefix("PERMISSION_") for one in history if "PERMISSION" in one]
    assert changes == ["GRANT", "GRANT", *["GRANT", "REVOKE"] * 3]
    some = {"username": "agnes", "permission": "SOME"}
    bodies: list[object] = [{}, {"username": "agnes"}, some, []]
    for body in bodies:
        assert http.post(f"{path}/pems", json=body).status_code == 400


def test_refusals_have_the_forms_of_agave(http: httpx.Client) -> None:
    for answer, status in (
        (http.get("/jobs/v2/x-007"), 404),
        (http.get("/jobs/v2/x/y/z"), 404),
        (http.delete("/jobs/v2"), 405),
        (http.post("/jobs/v2", content=b"{"), 400),
        (http.post("/jobs/v2", data={"name": "x"}), 415),
        (http.post("/jobs/v2", json={"name": "x", "appId": "none-1"}), 400),
        (http.post("/jobs/v2", json=job(say="UPPER")), 400),
        (http.post("/jobs/v2", json={**job(), "batchQueue": "none"}), 400),
        (http.post("/jobs/v2", json={**job(), "processorsPerNode": 99999}), 400),
    ):
        said = answer.json()
        assert (answer.status_code, said["status"]) == (status, "error"), answer.text
        assert said["message"]
    for headers, code in (
        ({"authorization": ""}, 900902),
        ({"authorization": "Bearer none"}, 900901),
        ({"X-JWT-Assertion": "a.b.c"}, 900901),
        ({"x-jwt-assertion-weft": "a.b.c"}, 900901),
    ):
        answer = http.get("/jobs/v2", headers=headers)
        assert (answer.status_code, answer.json()["fault"]["code"]) == (401, code)
