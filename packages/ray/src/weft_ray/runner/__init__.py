"""The runner `ray`: an attempt is a job of a Ray cluster, by Ray's API of jobs (ADR 155).

Attempts outlive the gateway. It must not import the package `ray`, nor start a job's process.
"""

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles, tag_of
from weft.ports.runner import RunnerSite
from weft_ray.runner.client import RayClient
from weft_ray.runner.engine import RayEngine
from weft_ray.settings import RaySettings


def open_ray(site: RunnerSite) -> RemoteRunner:
    """Return the gateway of this worker to Ray. Raise `WrongRayAddress`, `WrongRayResources`."""
    settings = site.section(RaySettings)
    engine = RayEngine(RayClient(settings), settings, site.limits, tag=tag_of(site.state))
    handles = Handles(site.state)
    return RemoteRunner(engine, handles, site.log_writer, site.worker, limits=site.limits)
