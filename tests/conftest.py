"""Fixtures that all tests share: a real PostgreSQL and a migrated database for each test.

`postgres` is one server per test process (so pytest-xdist is safe), gone at the end. `database` is
a copy of a template that was migrated once, or one that is as new; a test may do with it what it
likes.

`WEFT_TEST_POSTGRES_BIN=/usr/lib/postgresql/15/bin` takes the server of that directory instead of
the embedded one, and a database owner that is no superuser.
"""

import asyncio
import gc
import logging
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

import asyncpg
import pytest
import pytest_asyncio
import structlog
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from contexts import connected, fixture_of
from data_directory import data_directory
from kept_sessions import KeptSessions
from kept_template import give_data, state_of_schema
from recycling import Recycled
from up.external_server import external_server
from weft.store.embedded import EmbeddedServer

# What is imported until all tests are collected stays: looking for what does not takes seconds.
gc.disable()
# httpcore looks for this package, which is not installed, at each request and each of its locks.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]  # how a module is said to be none

# Each run takes the same few examples, so that only a change makes it fail; `make test-full` looks
# for new ones, among many.
# How long drawing an example takes says something about the machine, nothing about the code.
hypothesis_settings.register_profile(
    "weft",
    deadline=None,
    max_examples=200 if "WEFT_TEST_RANDOM" in os.environ else 25,
    derandomize="WEFT_TEST_RANDOM" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("weft")
if "WEFT_TEST_RANDOM" not in os.environ:
    # Else examples change with each constant of each module that happens to be loaded; all of them
    # are parsed for it and tried for each kind of value: most of what tests of properties cost.
    vars(providers).update(_get_local_constants=Constants)

_OWN_TEMPORARY = pytest.StashKey[Path]()
_TIMEOUT = pytest.StashKey[Any]()
LOGINS = ("weft_api", "weft_driver", "weft_worker")
SUPERUSER = "postgres"
OWNER = "weft_owner"
EXTERNAL_VARIABLE = "WEFT_TEST_POSTGRES_BIN"
EXTERNAL = os.environ.get(EXTERNAL_VARIABLE)
TEMPLATE = "weft_template"
# Safe only because nobody wants these data after a crash of the machine.
# The server's log names every long wait for a lock: a report of a deadlock has one side only.
# Each connection is a process that maps all shared buffers; hundreds of tests need few of them.
# Each client derives a key from its password, thousands of times, unless one time is enough.
FAST = (
    "fsync=off",
    "full_page_writes=off",
    "max_connections=100",
    "log_lock_waits=on",
    "shared_buffers=64MB",
    "scram_iterations=1",
    "autovacuum=off",
)

# What was started in the background, or by nohup, ignores these, and so would all it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGQUIT, signal.SIGHUP):
    signal.signal(_number, signal.SIG_DFL)

for _name in [*os.environ]:
    if _name.startswith("WEFT_") and _name != "WEFT_TEST_DATA":
        del os.environ[_name]  # settings of the developer's shell are not those of a test
os.environ["WEFT_TRUSTED_USERS"] = "true"  # tests let users in, whose jobs are theirs

# What fails is easier to read without every call of the database.
structlog.configure(
    wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.StackInfoRenderer(),
        structlog.processors.TimeStamper(fmt="%H:%M:%S.%f", utc=False),
        # Rich's takes a tenth of a second for each traceback.
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ],
)

Result = TypeVar("Result")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a developer ask which test of a file left what the audit at its end found."""
    parser.addoption(
        "--audit",
        choices=("file", "each"),
        default="file",
        help="audit tests of the store at the end of their file, or each (slower)",
    )
    parser.addoption(
        "--no-empty-stage",
        action="store_true",
        help="fail where every test was skipped: nothing was tested",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give this session temporary files of its own.

    pytest's usual place is shared, and each session of root that begins closes it to all other
    users: also to the one as which a root's PostgreSQL runs for the session before.
    """
    if config.option.basetemp is None:  # given to processes of pytest-xdist
        config.option.basetemp = tempfile.mkdtemp(prefix="weft-pytest-")
        config.stash[_OWN_TEMPORARY] = Path(config.option.basetemp)


def pytest_collection_finish() -> None:
    """Let the collector of garbage look at what tests make, never at what they are."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep temporary files of failures only. Fail a stage of CI that was skipped as a whole."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and _is_empty_stage(reporter) and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
    own = session.config.stash.get(_OWN_TEMPORARY, None)
    if own is not None and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(own, ignore_errors=True)


def _is_empty_stage(reporter: pytest.TerminalReporter) -> bool:
    passed = reporter.stats.keys() & {"passed", "xfailed"}
    return reporter.config.option.no_empty_stage and not passed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count skips by their reason."""
    reports = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"skipped: {count} — {reason}")
    if _is_empty_stage(terminalreporter):
        terminalreporter.line("FAILED: no test of this stage passed", red=True)


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:  # noqa: ANN401 (of a plug-in)
    item.stash[_TIMEOUT] = settings


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item, report: pytest.TestReport) -> None:
    """Time the cases after one that failed: pytest-timeout takes a failure for the end."""
    if isinstance(report, pytest.SubtestReport) and (settings := node.stash.get(_TIMEOUT, None)):
        node.ihook.pytest_timeout_set_timer(item=node, settings=settings)


def run_apart(call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine on a loop of its own, beside the one that a test may have."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: asyncio.run(call())).result()


class Server(Protocol):
    """What is asked of a server, embedded or not."""

    def dsn(self, user: str, password: str, database: str) -> str: ...


class Postgres:
    """The server of this test process. `owner` has the databases."""

    def __init__(self, server: Server, password: str, owner: str, kept: KeptSessions) -> None:
        self._server = server
        self._password = password
        self._owner = owner
        self._count = 0
        self._dropped: list[str] = []
        self._used: list[tuple[str, Recycled]] = []
        self._thread = ThreadPoolExecutor(1)
        self._loop = self._thread.submit(asyncio.Runner).result()
        self._connection: asyncpg.Connection | None = None
        self._kept = kept

    def dsn(self, database: str = SUPERUSER, user: str = SUPERUSER) -> str:
        """Return how to reach a database as one of the roles; all have the same password."""
        return self._server.dsn(user, self._password, database)

    def dsns(self, database: str) -> dict[str, str]:
        """Return the form of a home's `secrets.json` for a database."""
        return {
            "admin": self.dsn(database, self._owner),
            **{login: self.dsn(database, login) for login in LOGINS},
        }

    def execute(self, *statements: str, database: str = SUPERUSER) -> None:
        """Run statements as the superuser, each in its own transaction."""

        async def run() -> None:
            async with connected(self.dsn(database)) as connection:
                for statement in statements:
                    await connection.execute(statement)

        run_apart(run)

    def _execute(self, *statements: str) -> None:
        """Run statements about databases, all on one connection: each test makes a database."""

        async def run() -> None:
            if self._connection is None:
                self._connection = await asyncpg.connect(self.dsn())
            for statement in statements:
                await self._connection.execute(statement)

        self._run(run())

    def _run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return self._thread.submit(self._loop.run, call).result()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._thread.submit(self._connection.terminate).result()
        for _, recycled in self._used:
            self._thread.submit(recycled.close).result()
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()

    def create_database(self, template: str | None = TEMPLATE) -> str:
        """Make a database and return its name; without a template it is empty."""
        self._count += 1
        name = f"weft_test_{self._count}"
        self._create(name, template or "template0")
        return name

    @contextmanager
    def clean_database(self) -> Iterator[str]:
        """Give a migrated database that is as new: a used one, if that can be made so."""
        name, recycled = self._run(self._take_used())
        if recycled is None:
            name = self.create_database()
            recycled = self._run(Recycled.open(self.dsn(name)))
        try:
            yield name
        finally:
            self._used.append((name, recycled))

    @contextmanager
    def clean_dsns(self) -> Iterator[dict[str, str]]:
        """Give the DSNs `admin`, `weft_api`, `weft_driver`, `weft_worker` of such a one."""
        with self.clean_database() as name:
            yield self.dsns(name)

    async def _take_used(self) -> tuple[str, Recycled | None]:
        while self._used:
            name, recycled = self._used.pop()
            if await recycled.restore(self._kept.pids()):
                return name, recycled
            self.drop_database(name)
        return "", None

    def _create(self, name: str, template: str) -> None:
        # To copy files is ten times faster here than to write each page to the log, the default.
        dropped, self._dropped = self._dropped, []
        self._execute(
            *[f"DROP DATABASE IF EXISTS {old} WITH (FORCE)" for old in dropped],
            f"CREATE DATABASE {name} TEMPLATE {template} OWNER {self._owner} STRATEGY FILE_COPY",
        )

    def drop_database(self, name: str) -> None:
        """Remove a database, whoever is connected: before the next one is made."""
        self._dropped.append(name)

    def make_template(self) -> None:
        """Make the migrated database that the others are copies of."""
        from weft.store import open_admin  # noqa: PLC0415 (tests that need no database start faster)

        # It was set before the server had its options (FAST).
        self._execute(f"ALTER ROLE {SUPERUSER} PASSWORD '{self._password}'")
        if self._owner != SUPERUSER:
            self.execute(
                f"CREATE ROLE {self._owner} LOGIN CREATEROLE PASSWORD '{self._password}'",
                # Tests forge what the triggers refuse.
                f"GRANT SET ON PARAMETER session_replication_role TO {self._owner}",
            )
        self._create(TEMPLATE, "template0")

        async def migrate() -> None:
            async with open_admin(self.dsn(TEMPLATE, self._owner)) as admin:
                await admin.migrate()
                await admin.set_login_passwords(dict.fromkeys(LOGINS, self._password))

        run_apart(migrate)


@contextmanager
def _embedded_server(password: str, kept: KeptSessions) -> Iterator[Server]:
    with data_directory() as directory:
        server = EmbeddedServer(directory / "pg", directory / "run")

        def make() -> None:
            server.initialise(password, durable=False)
            server.start(options=FAST)
            postgres = Postgres(server, password, SUPERUSER, kept)
            postgres.make_template()
            postgres.close()
            server.stop()

        try:
            give_data(server.data_dir, password, make)
            server.start(options=FAST)
            yield server
        finally:
            server.stop(fast=False)


@pytest.fixture(autouse=True)
def _same_log_for_each_test() -> Iterator[None]:
    """Undo what a test changes about logging: the next one may look at what is told."""
    handlers, level = logging.root.handlers[:], logging.root.level
    kept = structlog.get_config()
    yield
    structlog.configure(**kept)
    structlog.contextvars.clear_contextvars()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest_asyncio.fixture(autouse=True)
async def _what_is_closed_ends() -> AsyncIterator[None]:
    """Give the loop, which all tests share, the turns that a closed connection takes to end."""
    yield
    for _ in range(3):
        await asyncio.sleep(0)


@pytest_asyncio.fixture(scope="session")
async def kept_sessions() -> AsyncIterator[KeptSessions]:
    """Let the pools of all tests on the loop of this process share sessions."""
    kept = KeptSessions()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncpg, "create_pool", kept.create_pool)
        yield kept
    await kept.close()


@pytest.fixture(scope="session")
def postgres(kept_sessions: KeptSessions) -> Iterator[Postgres]:
    """Give the server of this test process, with a migrated template."""
    password = state_of_schema() if EXTERNAL is None else secrets.token_urlsafe(12)
    if EXTERNAL is None:
        server, owner = _embedded_server(password, kept_sessions), SUPERUSER
    else:
        server, owner = external_server(Path(EXTERNAL) / "postgres", password=password), OWNER
    with server as running:
        result = Postgres(running, password, owner, kept_sessions)
        if EXTERNAL is not None:
            result.make_template()
        try:
            yield result
        finally:
            result.close()


database = fixture_of(lambda postgres: postgres.clean_dsns())
"""The DSNs of a database as new."""


@pytest.fixture
def own_database(postgres: Postgres) -> Iterator[dict[str, str]]:
    """Give the same for a copy to which nobody else is connected."""
    name = postgres.create_database()
    yield postgres.dsns(name)
    postgres.drop_database(name)


@pytest.fixture
def empty_database(postgres: Postgres) -> Iterator[dict[str, str]]:
    """Give the same for a database that was not migrated."""
    name = postgres.create_database(template=None)
    yield postgres.dsns(name)
    postgres.drop_database(name)
