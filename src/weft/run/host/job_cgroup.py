"""The cgroups of a worker's jobs, by its settings."""

from weft.plugins.runners.spawner import job_cgroups, lock_path
from weft.ports.executor import CgroupTerms
from weft.run.home import Home
from weft.run.host.worker_name import file_name_of
from weft.settings import Settings
from weft.telemetry.log import log


def cgroup_of(settings: Settings, home: Home) -> CgroupTerms | None:
    """Return how cgroups limit the jobs of this worker; None: nothing does. Raise `NoCgroup` if
    something must.
    """
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
