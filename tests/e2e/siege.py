"""A weft that keeps a secret and is asked for everything meanwhile."""

import asyncio
import base64
import hashlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from benches.route_changes import JOB
from contexts import connected
from e2e.conftest import Weft, until
from e2e.every_command import Captured, told_by_commands
from e2e.every_error import told_by_errors

LOUD: Final = (
    "log_statement = 'all'",
    "log_parameter_max_length = -1",
    "log_parameter_max_length_on_error = -1",
    "log_min_duration_statement = 0",
)
"""What lets PostgreSQL log everything that it is sent."""
REFUSE: Final = """
CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE 'refused'; END $$;
CREATE TRIGGER refuse BEFORE INSERT ON weft.secret FOR EACH ROW EXECUTE FUNCTION public.refuse();
"""
ACCEPT: Final = "DROP TRIGGER refuse ON weft.secret"
BLOCK: Final = """
echo '{"condition": "'$0'", "tester": "tcp", "parameters": {"host": "127.0.0.1", "port": '$1'}}' \
    > "$WEFT_BLOCK_FILE"; exit 75
"""
CONDITIONS: Final = {"quota": "1", "rate_limited": "2"}
"""What jobs wait for, and ports that nobody opens."""
LINE: Final = """
[source.NAME]
kind = "directory"
path = "INCOMING"
lifecycle = "NAME"
job = "NAME"
[job.NAME]
command = ["true"]
[lifecycle.NAME]
statuses = ["initialized", "started", "done"]
first = ["initialized"]
[lifecycle.NAME.next]
initialized = ["started"]
started = ["done"]
[lifecycle.NAME.core]
initialized = "pending"
started = "running"
done = "success"
[sink.NAME]
kind = "http"
url = "https://ann:CANARY@endpoint.example/products"
message = "{{ job.id }}"
"""
LINE_IDS: Final = dict.fromkeys(("setup", "lifecycle", "source", "sink"), "snow")
KEEP_DEAD: Final = """
    INSERT INTO weft.dead_message
        (tenant_id, transport, source, queue, reason, kept_at, body, n_bytes)
    SELECT tenant_id, 'rabbit', 'weft.default', 'default', 'rejected', now(), '{}', 2
    FROM weft.tenant WHERE name = 'default'
"""
SHOW: Final = 'printf %s "$DB" | sha256sum; sha256sum < "$WEFT_SECRETS_DIR/key"; '
USES: Final = ("--secret", "db=DB", "--secret-file", "db=key", "--clean-env")
LOOP: Final = "trap '' USR1; while :; do sleep 0.05; done"
HOSTILE: Final = "a\x1b[2Jb\x9b31mc\x07\u202ed\re"
"""A text that would steer a terminal. No name can be so, but commands and attributes can."""
SET: Final = "PUT /v1/secrets/{secret}"


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


async def _execute(home: Path, statements: Sequence[str]) -> None:
    dsn = json.loads((home / "secrets.json").read_text())["admin"]
    async with connected(dsn) as connection:
        for one in statements:
            await connection.execute(one)


class Siege:
    """A weft, a secret of its user, and all that is told."""

    def __init__(self, place: Path, callback: str) -> None:
        """`callback`: a receiver on this host."""
        self.canary = Canary()
        self.weft = Weft(place / "home")
        self.told: dict[str, bytes] = {}
        """By what was asked."""
        self.printed: dict[str, bytes] = {}
        """By `ask_commands`."""
        self.go = place / "go"
        """Lets the job of `start` end."""
        self.incoming = place / "incoming"
        self.incoming.mkdir()
        self._place = place
        self._there = place / "there"
        self._callback = callback

    def tell(self, *words: str, stdin: str = "") -> bytes:
        """Run a command; return what it says."""
        done = self.weft.run(*words, stdin=stdin.encode())
        self.told[f"{len(self.told)} {' '.join(words)}"] = done.stdout + done.stderr
        return done.stdout + done.stderr

    def set_secret(self) -> None:
        """Set it, after all refusals that there are."""
        value = self.canary.value
        loud = [f"ALTER SYSTEM SET {one}" for one in LOUD]
        asyncio.run(_execute(self.weft.home, [*loud, "SELECT pg_reload_conf()", REFUSE]))
        refused = self.tell("secret", "set", "db", stdin=value)
        self.told |= told_by_errors(self.weft.home, value)
        asyncio.run(_execute(self.weft.home, [ACCEPT]))
        self.set_again()

        assert b"refused a call" in refused

    def set_again(self) -> None:
        """Set it."""
        self.tell("secret", "set", "db", "--json", stdin=self.canary.value)

    def start(self) -> str:
        """Start jobs that use it, one of which goes on; return that one."""
        wait = f"echo $$ > {self._there}; while [ ! -e {self.go} ]; do sleep 0.02; done; exit 3"
        wait = f": '{HOSTILE}'; {wait}"
        job = self.tell("run", *USES, "--detach", "--", "sh", "-c", f"{SHOW} {wait}").decode()
        until(lambda: self._there.exists() and self._there.read_text().endswith("\n"))
        for condition, port in CONDITIONS.items():
            self.tell("run", *USES, "--detach", "--", "sh", "-c", BLOCK, condition, port)
        return job.strip()

    def ask(self, method: str, path: str, document: object = None) -> Any:  # noqa: ANN401
        """Send a request that succeeds; return the document or page."""
        client = json.loads((self.weft.home / "client.json").read_text())
        header = {"authorization": f"Bearer {client['token']}"}
        answer = httpx.request(
            method, client["url"] + path, json=document, headers=header, timeout=60
        )
        assert answer.is_success, answer.text
        return answer.json() if "json" in answer.headers["content-type"] else answer.text

    def conditions(self) -> Mapping[str, int]:
        """Return the numbers of what jobs wait for, by name."""
        found = self.ask("GET", "/v1/conditions")["items"]
        return {one["condition"]: one["condition_id"] for one in found}

    def make_things(self, job: str) -> dict[str, object]:
        """Make what paths may name beside a job; return it by parameter."""
        batch, number = job[1:].split(".j")
        spare = self.ask("POST", "/v1/batches", {"jobs": [{}]})["id"]
        cron = {"cron": "0 2 1 1 *", "document": {"jobs": [JOB]}}
        schedule = self.ask("POST", "/v1/schedules", cron)["schedule_id"]
        self.ask("PUT", "/v1/saved-queries/mine", {"query": "name = x"})
        self._make_line("snow")
        self.ask("PUT", "/v1/parameters/cloud_max", {"value": 20})
        self.tell("run", "--", "sh", "-c", "for n in 1 2; do echo {} >> $WEFT_PRODUCTS; done")
        asyncio.run(_execute(self.weft.home, [KEEP_DEAD, KEEP_DEAD]))
        until(lambda: self.conditions().keys() == CONDITIONS.keys())
        (worker, _) = self.ask("GET", "/v1/workers")["items"]
        page = self.ask("GET", "/ui")
        digest = re.search(r"/ui/assets/(\w+)/weft.css", page)
        assert digest is not None, page
        return {
            "b": batch,
            "j": number,
            "a": 1,
            "g": 0,
            "u": 1,
            "saved": "mine",
            "container": "main",
            "p": "default",
            "q": "default",
            "tenant": "default",
            "schedules/{s}": schedule,
            **LINE_IDS,
            "app": "snow-1.0",
            "store": "snow",
            "message": 1,
            "parameter": "cloud_max",
            "product": 1,
            "digest": digest[1],
            "name": "weft.css",
            "w": worker["worker"],
            "c": self.conditions()["quota"],
            "o": self.ask("DELETE", f"/v1/batches/{spare}")["id"],
            "dead": 1,
        }

    def _make_line(self, name: str) -> None:
        """Make a production line, whose source this weft may read, and an application."""
        setup = self._place / f"{name}.toml"
        line = LINE.replace("INCOMING", str(self.incoming)).replace("NAME", name)
        setup.write_text(line.replace("CANARY", self.canary.value))
        self.tell("line", "apply", str(setup))
        self.tell("app", "add", str(self._app(name)))
        self.tell("store", "add", name, "s3://bucket", "--access", "read", "--env")

    def _app(self, name: str) -> Path:
        """Write an application."""
        folder = self._place / name
        folder.mkdir()
        head = f'name = "{name}"\nversion = "1.0"\ntemplatePath = "wrapper.sh"\n'
        (folder / "app.toml").write_text(head)
        (folder / "wrapper.sh").write_text("true\n")
        return folder

    def make_more(self) -> Mapping[str, object]:
        """Make what may be changed and removed; its ends are called back."""
        told = {"callback": self._callback}
        self.ask("POST", "/v1/batches", {**told, "jobs": [JOB | {"command": ["false"]}]})
        jobs = [
            JOB | {"command": ["sh", "-c", LOOP], "timeout_s": 600, "group": "/g"},
            JOB | {"not_before": "2100-01-01T00:00:00Z", "group": "/g"},
        ]
        hostile = {"attributes": {"k": HOSTILE}}
        self.ask("POST", "/v1/batches", {**hostile, "jobs": [{**hostile, "command": ["true"]}]})
        document = {**told, "groups": [{"path": "/g", **told}], "jobs": jobs}
        batch = self.ask("POST", "/v1/batches", document)["id"]
        self.ask("POST", "/v1/users", {"name": "bob"})
        self._make_line("rain")
        self.ask("POST", "/v1/billing-projects", {"name": "spare"})
        queue = {"name": "spare", "priority": 1, "guard": "false"}
        self.ask("PUT", "/v1/queues", {"queues": [queue]})
        cron = {"cron": "0 4 1 1 *", "document": {"jobs": [JOB]}}
        schedule = self.ask("POST", "/v1/schedules", cron)["schedule_id"]
        token = self.ask("POST", "/v1/tokens", {"name": "spare"})["token_id"]
        until(lambda: self.ask("GET", f"/v1/batches/{batch}")["n_running"] == 1)
        return {
            **dict.fromkeys(LINE_IDS, "rain"),
            "app": "rain-1.0",
            "store": "rain",
            "parameter": "cloud_max",
            "product": 2,
            "b": batch,
            "j": 1,
            "g": 1,
            "u": 4,
            "d": 1,
            "l": "matlab",
            "n": 1,
            "q": "spare",
            "billing-projects/{p}": "spare",
            "billing_projects/{p}": "hail",
            "billing_limits/{p}": "default",
            "payloads/{s}": "ab" * 32,
            "secret": "db",
            "app-parts/{s}": "ab" * 32,
            "session": 1,
            "user": "bob",
            "t": token,
            "saved": "theirs",
            "schedules/{s}": schedule,
            "c": self.conditions()["rate_limited"],
            "dead": 2,
        }

    def ask_commands(
        self, job: str, ids: Mapping[str, object], captured: Captured
    ) -> Mapping[str, int]:
        """Ask all commands that read; return exit codes of those that did not succeed."""
        document = self._place / "jobs.json"
        document.write_text(json.dumps({"jobs": [JOB]}))
        names = {
            "batch": job.partition(".")[0],
            "job": job,
            "document": document,
            "worker": ids["w"],
            "condition": f"c{ids['c']}",
            "schedule": f"s{ids['schedules/{s}']}",
        }
        self.printed, codes = told_by_commands(names, captured)
        self.told |= self.printed
        return codes

    def wrong_values(self) -> Sequence[bytes]:
        """Return documents by which no secret can be set."""
        value = self.canary.value
        wrong = (
            {"value": [value]},
            {"value": value, "more": value},
            {"valu": value},
            [value],
            {"value": f"{value}\0"},
            {"value": value * 10_000},
            value,
        )
        text = json.dumps({"value": value}).encode()
        texts = [json.dumps(one).encode() for one in wrong]
        return [*texts, text[:-1], text + text, b"\xff" + text]

    def steering(self) -> Sequence[str]:
        """Return the commands that let a text steer the terminal."""
        marks = [one.encode() for one in ("\x1b", "\x9b", "\x07", "\r")]
        return [name for name, text in self.printed.items() if any(one in text for one in marks)]

    def leaks(self) -> Sequence[str]:
        """Return what told the value."""
        return [name for name, text in self.told.items() if self.canary.is_in(text)]
