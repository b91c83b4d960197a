"""The accounts and cgroups in which jobs run, and where their directories are (ADR 61)."""

import hashlib
import os
import stat
from pathlib import Path

from weft.core.access.run_as import parse_accounts
from weft.core.errors import Conflict
from weft.plugins.runners.spawner import job_cgroups, lock_path
from weft.ports.executor import CgroupTerms
from weft.ports.store import WorkerStore
from weft.run.home import Home
from weft.run.host.worker_name import file_name_of
from weft.settings import Settings
from weft.telemetry.log import log
from weft.worker.agent.job_accounts import JobAccounts

_ENTERED_BY_ALL = 0o711
_WRITTEN_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class NoAccounts(Conflict, code="WORKER.NO_ACCOUNTS"):
    """The setting `run_as` asks for accounts of users, but jobs cannot run under them."""


def job_accounts(settings: Settings, store: WorkerStore) -> JobAccounts | None:
    """Return what finds the accounts of jobs; None: they run as the worker does."""
    if settings.run_as == "worker":
        return None
    accounts = parse_accounts(settings.run_as_accounts)
    return JobAccounts(store, accounts, uid_min=settings.run_as_uid_min)


def job_directory(settings: Settings, home: Home) -> Path:
    """Return where jobs have their directories: the home, or with `run_as` one that other accounts
    reach. Raise `NoAccounts` if they would not, or if others could change it.
    """
    if settings.run_as == "worker":
        return home.path
    if os.geteuid() != 0:
        raise _refused("The worker is not root.", "Run it as root.")
    if settings.runner != "spawner":
        why = f"The runner {settings.runner} knows no accounts."
        raise _refused(why, "Use the runner spawner.")
    name = hashlib.sha256(os.fsencode(home.path.resolve())).hexdigest()[:16]
    path = Path(settings.run_as_directory).resolve() / name
    path.parent.mkdir(mode=_ENTERED_BY_ALL, parents=True, exist_ok=True)
    path.mkdir(mode=_ENTERED_BY_ALL, exist_ok=True)
    for one in (path, *path.parents):
        _check(one)
    for one in (path / "scratch", path / "checkpoints"):
        one.mkdir(mode=_ENTERED_BY_ALL, exist_ok=True)
    return path


def _check(directory: Path) -> None:
    status = directory.stat()
    hint = "Set `run_as_directory` to another place, such as /var/lib/weft-jobs."
    if not status.st_mode & stat.S_IXOTH:
        raise _refused(f"{directory} is closed to other accounts.", hint)
    is_written = status.st_mode & _WRITTEN_BY_OTHERS and not status.st_mode & stat.S_ISVTX
    if status.st_uid != 0 or is_written:
        raise _refused(f"Others than root may change {directory}.", hint)


def _refused(detail: str, hint: str) -> NoAccounts:
    return NoAccounts(
        "cannot run jobs under the accounts of their users",
        detail=detail,
        hint=f"{hint} `run_as = worker` runs jobs as the user of the worker.",
    )


def cgroup_of(settings: Settings, home: Home) -> CgroupTerms | None:
    """Return how cgroups limit this worker's jobs, or None. Raise `NoCgroup` if something must."""
    if settings.job_limits == "never":
        return None
    try:
        return _terms_of(settings, home)
    except job_cgroups.NoCgroup as error:
        if settings.job_limits == "always":
            raise
        log.warning("worker.jobs_not_limited", why=error.detail or error.message)
        return None


def _terms_of(settings: Settings, home: Home) -> CgroupTerms:
    if settings.runner != "spawner":
        raise job_cgroups.NoCgroup(
            f"the runner {settings.runner} makes no cgroups",
            hint="Set `job_limits` to `never`: what limits its jobs is its engine.",
        )
    cgroup = job_cgroups.find_job_cgroup(settings.job_cgroup)
    if cgroup.directory is None:
        raise job_cgroups.no_cgroup(cgroup)
    own = job_cgroups.worker_cgroup(cgroup.directory, lock_path(home.run, file_name_of(settings)))
    job_cgroups.prepare_cgroup(cgroup.directory, own)
    return CgroupTerms(
        directory=str(own),
        has_quota=settings.job_limits_cpu == "quota",
        processes_max=settings.job_processes_max,
    )
