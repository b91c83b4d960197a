"""Programs of the previous release go on with the present schema, under load, and workers outside
of it on the present api, and the reverse.
"""

import asyncio
import json
import runpy
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any, TypeVar
from urllib.parse import quote

import pytest

from contexts import scratch
from release.previous_release import PRESENT, Release, install_previous
from weft.store import Admin, open_admin

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "tests" / "migrations" / "schema.snapshot.sql"
TOKEN = "of-the-test"
JOBS = 200
"""In each batch; the last one waits for all the others."""
BATCHES_AFTER = 8
DEADLINE_S = 240
PREPARE = """
import asyncio, json, sys
from pathlib import Path
from weft.run.database import prepare_schema
from weft.run.home import Home
home, logins = Home(Path(sys.argv[1])), json.loads(sys.argv[2])
home.prepare()
home.write_secrets(logins)
home.ensure_callback_key()
asyncio.run(prepare_schema(logins["admin"], logins, user="ada", token=sys.argv[3]))
"""
Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def previous() -> Iterator[Release]:
    """Give the previous release, installed."""
    with scratch("weft-previous-") as base:
        yield install_previous(base)


@pytest.fixture
def home(previous: Release, empty_database: dict[str, str]) -> Iterator[Path]:
    """Give a home whose database the previous release has prepared."""
    with scratch("weft-home-") as base:
        words = (str(base), json.dumps(empty_database), TOKEN)
        done = previous.run("-c", PREPARE, *words, home=base)
        assert done.returncode == 0, done.stderr
        yield base


def until(said: Callable[[], Answer | None], what: str) -> Answer:
    """Look again and again until there is an answer."""
    deadline, again = time.monotonic() + DEADLINE_S, Event()
    while (answer := said()) is None:
        assert time.monotonic() < deadline, what
        again.wait(0.05)
    return answer


class Api:
    """What a client sees of a home's api."""

    def __init__(self, home: Path, name: str = "api") -> None:
        self._evidence = home / "evidence"
        said = until(lambda: _read(home / "run" / f"{name}.ready"), "the api is not ready")
        self.url = f"http://{said['host']}:{said['port']}/v1"

    def ask(self, path: str, document: object = None) -> Any:  # noqa: ANN401 (any document)
        """Send a request; any other answer than a success is an error."""
        return json.loads(self.read(path, document))

    def read(self, path: str, document: object = None) -> bytes:
        """Return the body of the answer."""
        request = urllib.request.Request(  # noqa: S310 (ours)
            self.url + path,
            data=None if document is None else json.dumps(document).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            body: bytes = answer.read()
        return body

    def submit(self, key: str) -> int:
        """Submit a batch whose jobs each write a line of their own."""
        command = ["/bin/sh", "-c", 'echo "$1" >> "$0"', str(self._evidence)]
        jobs = [{"command": [*command, f"{key}-{n}"]} for n in range(1, JOBS + 1)]
        for job in jobs:
            job["resources"] = {"cpu": "250m", "memory": "16Mi"}  # type: ignore[assignment]
        jobs[-1]["parents"] = list(range(1, JOBS))  # type: ignore[arg-type]
        return int(self.ask("/batches", {"name": key, "jobs": jobs})["id"])

    def until_complete(self, batch: int) -> Mapping[str, Any]:
        """Wait for a batch, and look at it in the ways that an api knows."""

        def found() -> Mapping[str, Any] | None:
            document: Mapping[str, Any] = self.ask(f"/batches/{batch}")
            return document if document["complete"] else None

        document = until(found, f"batch {batch} is not complete")
        query = quote("state = success and duration >= 0")
        assert self.ask(f"/batches/{batch}/jobs?limit=1000&q={query}")["items"]
        assert self.ask(f"/batches/{batch}/jobs/{JOBS}/attempts")["items"]
        assert self.ask(f"/batches/{batch}/jobs/{JOBS}/history")["items"]
        return document


def _read(file: Path) -> Mapping[str, Any] | None:
    try:
        document: Mapping[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return document


def ask_owner(
    database: Mapping[str, str], question: Callable[[Admin], Coroutine[Any, Any, Answer]]
) -> Answer:
    async def ask() -> Answer:
        async with open_admin(database["admin"]) as admin:
            return await question(admin)

    return asyncio.run(ask())


def test_old_api_and_worker_on_the_new_schema(
    previous: Release, home: Path, empty_database: dict[str, str]
) -> None:
    """The schema changes under their load; then a new driver leads; then they are replaced."""
    evidence = home / "evidence"
    with ExitStack() as old, ThreadPoolExecutor(1) as submitting:
        old.enter_context(previous.role("api", home))
        old.enter_context(previous.role("worker", home))
        api = Api(home)
        with previous.role("driver", home):
            batches = [api.submit("before")]
            until(lambda: evidence.exists() or None, "no job has run")
            during = submitting.submit(lambda: [api.submit(f"during{n}") for n in range(4)])
            ask_owner(empty_database, lambda admin: admin.migrate())
            batches += during.result()
        with PRESENT.role("driver", home):
            batches += [api.submit(f"after{n}") for n in range(BATCHES_AFTER)]
            documents = [api.until_complete(batch) for batch in batches]
            old.close()
            documents += _with_new_programs(home, empty_database)
    dump_of = runpy.run_path(str(ROOT / "tools" / "schema_snapshot.py"))["dump_of"]
    lines = Counter(evidence.read_text().split())
    findings = ask_owner(empty_database, lambda admin: admin.audit())

    assert [one["n_succeeded"] for one in documents] == [JOBS] * len(documents)
    assert len(lines) == JOBS * len(documents)
    assert set(lines.values()) == {1}
    assert [one for one in findings if one.rows] == []
    assert SNAPSHOT.read_text() == dump_of(empty_database["admin"])
    assert [line for line in _failures(home) if "the database refused" in line] == []


def _with_new_programs(home: Path, database: Mapping[str, str]) -> list[Mapping[str, Any]]:
    (home / "run" / "api.ready").unlink(missing_ok=True)
    with PRESENT.role("api", home), PRESENT.role("worker", home):
        api = Api(home)
        before = api.until_complete(api.submit("expanded"))
        ask_owner(database, lambda admin: admin.contract())
        return [before, api.until_complete(api.submit("contracted"))]


def _failures(home: Path) -> list[str]:
    return [line for log in home.glob("*.log") for line in log.read_text().splitlines()]


FORMS = ("src/weft/ports/worker_link.py", "src/weft/ports/store/worker.py")
"""The calls of the link follow from these."""


@pytest.fixture(scope="module")
def before() -> Iterator[Release]:
    """Give weft as it was before the link's calls last changed, installed."""
    done = subprocess.run(
        ["git", "log", "-1", "--format=%H~1", "--", *FORMS],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    commit = done.stdout.strip() or pytest.skip("this is no clone with a history")
    with scratch("weft-before-") as base:
        yield install_previous(base, commit)


@pytest.mark.parametrize("old", ["worker", "api"])
def test_output_comes_by_the_link_between_releases(
    before: Release, empty_database: dict[str, str], tmp_path: Path, old: str
) -> None:
    api_of, worker_of = (before, PRESENT) if old == "api" else (PRESENT, before)
    home, outside = tmp_path / "home", tmp_path / "outside"
    home.mkdir()
    outside.mkdir()
    done = api_of.run("-c", PREPARE, str(home), json.dumps(empty_database), TOKEN, home=home)
    assert done.returncode == 0, done.stderr
    with api_of.role("api", home), api_of.role("driver", home):
        api = Api(home)
        terms = {"name": "out", "scopes": ["work"], "pool": "default"}
        file = outside / "token"
        file.touch(0o600)
        file.write_text(api.ask("/tokens", terms)["token"])
        link = {"WEFT_CONNECT": api.url.removesuffix("/v1"), "WEFT_TOKEN_FILE": str(file)}
        with worker_of.role("worker", outside, **link):
            job = {"command": ["/bin/sh", "-c", "echo came by the link; exit 3"]}
            batch = api.ask("/batches", {"jobs": [job]})["id"]
            document = until(
                lambda: found if (found := api.ask(f"/batches/{batch}"))["complete"] else None,
                f"it did not run: {_end_of(outside)} {_end_of(home)}",
            )
            (attempt,) = api.ask(f"/batches/{batch}/jobs/1/attempts")["items"]
            log = api.read(f"/batches/{batch}/jobs/1/log")
    assert (document["n_failed"], attempt["exit_code"]) == (1, 3)
    assert b"came by the link" in log


def _end_of(home: Path) -> str:
    return "".join(log.read_text()[-1000:] for log in home.glob("*.log"))
