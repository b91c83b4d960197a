"""A secret is searched for everywhere: after it was set, used, failed with, and removed."""

import json
import os
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from e2e.conftest import Weft, until
from e2e.every_command import Captured
from e2e.every_route import EveryRoute
from e2e.siege import SET, USES, Canary, Siege
from up.http_receiver import Receiver, receiving

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(600)]

NOT_SHOWN = {
    "GET /api/jobs/{job_id}": {404},
    "GET /internal/jobs/{job_id}/status": {404},
    "GET /": {303},
    "GET /batches/{b}": {303},
    "GET /login/oidc/callback": {401},
    "GET /login/oidc/start": {404},
    "GET /ui/answer": {404},
    "GET /v1/worker-link/notices": {400},
    "GET /v1/batches/{b}/jobs/{j}/file": {404},
    "GET /batches/{b}/jobs/{j}": {303},
    "GET /v1/batches/{b}/jobs/{j}/note": {404},
}
"""Routes that show nothing here, and how they answer."""
OF_NO_JOB = re.compile(r"\{(aloe|task)_id\}")
"""Routes of doors whose jobs are others: what they are asked for is not there."""
REFUSED, FAILED = 400, 500
_ISSUER = "it asks an issuer"
_PAGE = "it asks for a page before it"
_GONE = "another route has removed it before"
_ENDED = "the operation has ended"
_OTHER_FORM = "its body is of another form"
_NO_UPDATE = "there is no update that is open"
NOT_DONE = {
    "DELETE /v1/batches/{b}": _GONE,
    "DELETE /v1/billing-projects/{p}": "it is open",
    "DELETE /v1/sessions/{session}": "no browser has logged in",
    "PATCH /api/v1alpha/batches/{b}/updates/{u}/commit": _NO_UPDATE,
    "POST /api/v1alpha/batches/{b}/jobs/create": "it takes no empty bunch",
    "POST /api/v1alpha/batches/{b}/updates/{u}/job-groups/create": _NO_UPDATE,
    "POST /api/v1alpha/batches/{b}/updates/{u}/jobs/create": _NO_UPDATE,
    "POST /api/jobs": _OTHER_FORM,
    "POST /api/v1alpha/billing_projects/{p}/delete": "it is open",
    "POST /jobs": _OTHER_FORM,
    "POST /jobs/v2": _OTHER_FORM,
    "POST /login": _PAGE,
    "POST /logout": _PAGE,
    "POST /ui/answer": _PAGE,
    "POST /ui/batches/{b}/jobs/{j}/answer": "its line asks nothing",
    "POST /ui/batches/{b}/jobs/{j}/retry": "the job runs",
    "POST /ui/conditions/{c}/release": _GONE,
    "POST /ui/operations/{o}/cancel": _ENDED,
    "POST /ui/sessions/{session}/end": "no browser has logged in",
    "POST /v1/batches/{b}/callbacks/{d}/redeliver": "it was not given up",
    "POST /v1/batches/{b}/groups/{g}/members": "the group is no set",
    "POST /v1/batches/{b}/jobs/{j}/status": "the job has no lifecycle",
    "POST /v1/batches/{b}/updates/{u}/commit": _NO_UPDATE,
    "POST /v1/batches/{b}/jobs/{j}/answer": "its line asks nothing",
    "POST /v1/batches/{b}/jobs/{j}/answer-links": "its line asks nothing",
    "POST /v1/conditions/{c}/fail": _GONE,
    "POST /v1/conditions/{c}/release": _GONE,
    "POST /v1/device-logins": _ISSUER,
    "POST /v1/device-logins/poll": _ISSUER,
    "POST /v1/imports": "it names a user who is not there",
    "POST /v1/logins": _ISSUER,
    "POST /v1/logins/finish": _ISSUER,
    "POST /v1/operations/{o}/cancel": _ENDED,
    "POST /v1/setups/{setup}/trial": _OTHER_FORM,
    "POST /v1/sinks/{sink}/deliveries/{message}/decide": "no message is held",
    "POST /v1/sinks/{sink}/deliveries/{message}/redeliver": "nothing was delivered",
    "POST /v1/sinks/{sink}/given-up": "no message was given up",
    "POST /v1/worker-link/join": "it asks for an invitation",
    "POST /v1/workers/{w}/lose": "the worker is at work",
    "PUT /v1/apps/{app}": "its folder was not sent",
    "PUT /v1/setups/{setup}": _OTHER_FORM,
    f"{SET}, refused": "no secret can be set so",
}
"""Routes that change nothing here, and why."""
CODES = {"wait": 1}
"""Of commands that tell so that a job has failed."""
N_CALLBACKS = 1
"""One of a batch, others of what is removed meanwhile."""
N_COMMANDS = 4
"""This many at least print the command of the job."""
N_ROLES = 4
"""The api, the driver, the agent and the spawner."""
N_STREAMS = 4
"""Events and the output of a job, each for pages and for programs."""


def processes() -> Iterator[tuple[int, bytes]]:
    """Yield what `/proc` shows of each process to others."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                yield (
                    int(entry.name),
                    (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes(),
                )
            except OSError:
                continue


def not_done(routes: EveryRoute) -> set[str]:
    """Return the routes that refused what they were asked for."""
    return {
        name
        for name, statuses in routes.statuses.items()
        if max(statuses) >= REFUSED and not OF_NO_JOB.search(name)
    }


@pytest.fixture
def siege(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Siege, Receiver]]:
    """Give a weft that is up, and what its receiver of callbacks was sent."""
    with receiving(first_status=200) as receiver:
        found = Siege(tmp_path, f"http://127.0.0.1:{receiver.port}/hook?key=1")
        monkeypatch.setenv("WEFT_HOME", str(found.weft.home))
        settings = {
            "WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1",
            "WEFT_SOURCE_PATHS": str(found.incoming),
            "WEFT_WORKER_CPU_M": "8000",  # jobs that are resubmitted go on
        }
        up = found.weft.run("up", "--port", "0", "--detach", env=settings, timeout_s=300)
        assert up.returncode == 0, up.stderr
        try:
            yield found, receiver
        finally:
            found.weft.run("down")


def test_no_value_is_found_anywhere(siege: tuple[Siege, Receiver], capfdbinary: Captured) -> None:
    """By no route, callback, command or error, in no file and no process but the job's own."""
    here, receiver = siege
    weft, canary, tell = here.weft, here.canary, here.tell
    here.set_secret()
    job = here.start()
    batch, ids = job.partition(".")[0], here.make_things(job)
    read = EveryRoute(weft.home, ids)
    read.ask()
    seen = [(pid, text) for pid, text in processes() if canary.is_in(text)]
    changed = EveryRoute(weft.home, {**ids, **here.make_more()})
    changed.send(SET, here.wrong_values())
    changed.change(canary.value)
    here.set_again()
    here.go.touch()
    tell("wait", job)
    read.ask()
    output = tell("logs", job).decode()
    codes = here.ask_commands(job, ids, capfdbinary)
    tell("secret", "rm", "db")
    unknown = tell("run", *USES, "--", "true")
    again = tell("retry", batch)
    tell("wait", job)
    removed = json.loads(tell("status", job, "--json"))
    read.ask()
    sent = receiver.until(N_CALLBACKS)
    weft.run("down")
    for routes in (read, changed):
        routes.finish()
        here.told |= {name: b"\n".join(texts) for name, texts in routes.told.items()}
    here.told |= {f"callback {n}": repr(one).encode() for n, one in enumerate(sent)}
    files = {one: one.read_bytes() for one in weft.home.rglob("*") if one.is_file()}

    assert here.leaks() == []
    assert [str(one) for one, data in files.items() if canary.is_in(data)] == []
    assert here.steering() == []
    # What was not reached proves nothing.
    assert sum(b"[2Jb" in text for text in here.printed.values()) >= N_COMMANDS
    assert output.count(canary.digest) == 2, here.told
    assert seen
    assert len(seen) <= 2, seen  # the shell of the job, and perhaps its sleep
    assert all(b"WEFT_ATTEMPT=" in text for _, text in seen)
    assert (b"weft secret set db" in unknown, bool(again)) == (True, True)
    assert (removed["state"], removed["reason"]) == ("error", "bad_spec"), removed
    assert "no secret 'db' any more" in removed["message"]
    not_there = {name: {404} for name in read.statuses if OF_NO_JOB.search(name)}
    not_shown = {name: found for name, found in read.statuses.items() if found != {200}}
    assert not_shown == NOT_SHOWN | not_there
    assert [b"data: " in here.told[name] for name in read.streams] == [True] * N_STREAMS
    assert not_done(changed) - NOT_DONE.keys() == set()
    missing = {name: changed.statuses[name] for name in changed.statuses if OF_NO_JOB.search(name)}
    assert {name for name, found in missing.items() if not found <= {400, 404}} == set()
    assert max(map(max, changed.statuses.values())) < FAILED
    assert min(changed.statuses[f"{SET}, refused"]) >= REFUSED
    assert codes == CODES
    assert any(b"set_secret" in data for one, data in files.items() if one.suffix == ".log")


def test_files_of_a_worker_that_was_killed_are_gone_when_it_is_back(tmp_path: Path) -> None:
    canary, weft, there = Canary(), Weft(tmp_path / "home"), tmp_path / "there"
    assert weft.run("up", "--port", "0", "--detach", timeout_s=300).returncode == 0
    try:
        weft.run("secret", "set", "db", stdin=canary.value.encode())
        script = f'[ -e {there} ] && exit 0; echo "$WEFT_SECRETS_DIR" > {there}; sleep 1015'
        options = ("--secret-file", "db", "--detach")
        job = weft.run("run", *options, "--", "sh", "-c", script).stdout.decode().strip()
        until(lambda: there.exists() and there.read_text().endswith("\n"))
        files = Path(there.read_text().strip())
        assert (files / "db").read_text() == canary.value
        lock = next((weft.home / "run").glob("spawner-*.lock"))
        outside = [pid for pid, text in processes() if str(lock).encode() in text]
        for pid in outside:
            os.kill(pid, signal.SIGKILL)
        until(lambda: not files.parent.exists())
        waited = weft.run("wait", job)
    finally:
        weft.run("down")

    assert outside
    assert waited.returncode == 0, waited.stdout + waited.stderr


@pytest.fixture
def _large_dumps() -> Iterator[None]:
    """Let what is started here leave core dumps, as the shells of some hosts do."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, before)


def cores(*places: Path) -> set[Path]:
    return {one for place in places for one in place.glob("*core*") if one.is_file()}


def is_gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}/exe").exists()


@pytest.mark.usefixtures("_large_dumps")
def test_no_role_that_crashes_leaves_a_core_dump(tmp_path: Path) -> None:
    weft = Weft(tmp_path / "home")
    subprocess.run(["sh", "-c", "kill -ABRT $$"], check=False, cwd=tmp_path)
    if not cores(tmp_path):
        pytest.skip("here no process leaves a core dump where it runs")
    assert weft.run("up", "--port", "0", "--detach", timeout_s=300).returncode == 0
    try:
        lock = str(next((weft.home / "run").glob("spawner-*.lock"))).encode()
        spawners = [pid for pid, text in processes() if lock in text and b"unshare" not in text]
        roles = [
            json.loads((weft.home / "run" / f"{role}.ready").read_text())["pid"]
            for role in ("api", "driver", "worker")
        ]
        limits = [Path(f"/proc/{pid}/limits").read_text() for pid in (*roles, *spawners)]
        places = {Path(f"/proc/{pid}/cwd").readlink() for pid in roles}
        before = cores(*places, weft.home)
        for pid in roles:
            os.kill(pid, signal.SIGABRT)
            until(partial(is_gone, pid))
        after = cores(*places, weft.home)
    finally:
        weft.run("down")

    assert after == before
    # No signal from outside ends a spawner that is the first of its namespace.
    found = [re.findall(r"Max core file size +(\d+|unlimited) ", one) for one in limits]
    assert found == [["1"]] * N_ROLES
