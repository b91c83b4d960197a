"""A secret is searched for everywhere: after it was set, used, failed with, and removed."""

import asyncio
import base64
import hashlib
import json
import os
import re
import secrets
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from e2e.conftest import Weft, until
from e2e.every_route import EveryRoute

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(600)]

LOUD = ("log_statement = 'all'", "log_parameter_max_length = -1",
        "log_parameter_max_length_on_error = -1", "log_min_duration_statement = 0")  # fmt: skip
"""What lets PostgreSQL log everything that it is sent."""
REFUSE = """
CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE 'refused'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON weft.secret FOR EACH ROW EXECUTE FUNCTION public.refuse();
"""
ACCEPT = "DROP TRIGGER refuse ON weft.secret"
BLOCK = """
echo '{"condition": "quota", "tester": "tcp", "parameters": {"host": "127.0.0.1", "port": 1}}' \
    > "$WEFT_BLOCK_FILE"; exit 75
"""
NOT_SHOWN = {
    "GET /": {303}, "GET /login/oidc/callback": {401}, "GET /login/oidc/start": {404},
}  # fmt: skip
"""Routes that show nothing here, and how they answer."""
N_STREAMS = 4
"""Events and the output of a job, each for pages and for programs."""
SHOW = 'printf %s "$DB" | sha256sum; sha256sum < "$WEFT_SECRETS_DIR/key"; '


class Canary:
    """A value, and all the forms in which it may be found."""

    def __init__(self) -> None:
        self.value = f"canary-{secrets.token_hex(12)}"
        data = self.value.encode()
        self.forms = [data, data.hex().encode(), *map(_base64, (data, b"x" + data, b"xy" + data))]
        self.digest = hashlib.sha256(data).hexdigest()

    def is_in(self, data: bytes) -> bool:
        return any(form in data for form in self.forms)


def _base64(data: bytes) -> bytes:
    """Return the part of the encoding that does not depend on what stands beside it."""
    return base64.b64encode(data)[4:-4]


async def execute(weft: Weft, *statements: str) -> None:
    dsn = json.loads((weft.home / "secrets.json").read_text())["admin"]
    connection = await asyncpg.connect(dsn)
    try:
        for one in statements:
            await connection.execute(one)
    finally:
        await connection.close()


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


def make_things(weft: Weft, job: str) -> dict[str, object]:
    """Make what paths may name beside a job; return it by parameter."""
    client = json.loads((weft.home / "client.json").read_text())
    header = {"authorization": f"Bearer {client['token']}"}
    with httpx.Client(base_url=client["url"], headers=header, timeout=60) as http:

        def ask(method: str, path: str, document: object = None) -> dict[str, Any]:
            answer = http.request(method, path, json=document)
            assert answer.is_success, answer.text
            found: dict[str, Any] = answer.json()
            return found

        batch, number = job[1:].split(".j")
        spare = ask("POST", "/v1/batches", {"jobs": [{}]})["id"]
        secret = {"name": "db", "env": "DB"}
        document = {"jobs": [{"command": ["true"], "secrets": [secret]}]}
        schedule = ask("POST", "/v1/schedules", {"cron": "0 2 1 1 *", "document": document})
        ask("PUT", "/v1/saved-queries/mine", {"query": "name = x"})
        until(lambda: bool(ask("GET", "/v1/conditions")["items"]))
        (worker,) = ask("GET", "/v1/workers")["items"]
        page = http.get("/ui").text
        digest = re.search(r"/ui/assets/(\w+)/weft.css", page)
        assert digest is not None, page
        return {
            "b": batch, "j": number, "a": 1, "g": 0, "u": 1, "saved": "mine", "container": "main",
            "p": "default", "q": "default", "tenant": "default",
            "digest": digest[1], "name": "weft.css",
            "c": ask("GET", "/v1/conditions")["items"][0]["condition_id"], "w": worker["worker"],
            "schedules/{s}": schedule["schedule_id"],
            "o": ask("DELETE", f"/v1/batches/{spare}")["id"],
        }  # fmt: skip


def test_no_value_is_found_anywhere(tmp_path: Path) -> None:
    canary, weft, said = Canary(), Weft(tmp_path / "home"), []
    go, there = tmp_path / "go", tmp_path / "there"

    def tell(*words: str, stdin: str = "") -> bytes:
        done = weft.run(*words, stdin=stdin.encode())
        said.append(done.stdout + done.stderr)
        return said[-1]

    assert weft.run("up", "--port", "0", "--detach", timeout_s=300).returncode == 0
    try:
        asyncio.run(execute(weft, *(f"ALTER SYSTEM SET {one}" for one in LOUD)))
        asyncio.run(execute(weft, "SELECT pg_reload_conf()", REFUSE))
        refused = tell("secret", "set", "db", stdin=canary.value)
        asyncio.run(execute(weft, ACCEPT))
        tell("secret", "set", "db", "--json", stdin=canary.value)
        options = ("--secret", "db=DB", "--secret-file", "db=key", "--clean-env")
        script = f"{SHOW} echo $$ > {there}; while [ ! -e {go} ]; do sleep 0.02; done; exit 3"
        job = tell("run", *options, "--detach", "--", "sh", "-c", script).decode().strip()
        until(lambda: there.exists() and there.read_text().endswith("\n"))
        tell("run", *options, "--detach", "--", "sh", "-c", BLOCK)
        routes = EveryRoute(weft.home, make_things(weft, job))
        routes.ask()
        seen = [(pid, text) for pid, text in processes() if canary.is_in(text)]
        go.touch()
        tell("wait", job)
        routes.ask()
        output = tell("logs", job).decode()
        for words in (
            ("jobs", job.partition(".")[0], "--json"), ("status", job, "--json"), ("why", job),
            ("failures", job.partition(".")[0]), ("secret", "ls", "--json"),
        ):  # fmt: skip
            tell(*words)
        tell("secret", "rm", "db")
        unknown = tell("run", *options, "--", "true")
        again = tell("retry", job.partition(".")[0])
        tell("wait", job)
        removed = json.loads(tell("status", job, "--json"))
        routes.ask()
    finally:
        weft.run("down")
    routes.finish()
    files = {one: one.read_bytes() for one in weft.home.rglob("*") if one.is_file()}

    assert b"refused a call" in refused
    assert output.count(canary.digest) == 2, said
    assert len(seen) <= 2, seen  # the shell of the job, and perhaps its sleep
    assert all(b"WEFT_ATTEMPT=" in text for _, text in seen)
    assert seen
    assert b"weft secret set db" in unknown
    assert again
    assert (removed["state"], removed["reason"]) == ("error", "bad_spec"), removed
    assert "no secret 'db' any more" in removed["message"]
    assert not [one for one in said if canary.is_in(one)]
    told = {name: b"\n".join(texts) for name, texts in routes.told.items()}
    assert [name for name, text in told.items() if canary.is_in(text)] == []
    assert {name: found for name, found in routes.statuses.items() if found != {200}} == NOT_SHOWN
    assert [b"data: " in told[name] for name in routes.streams] == [True] * N_STREAMS
    assert [str(one) for one, data in files.items() if canary.is_in(data)] == []
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
