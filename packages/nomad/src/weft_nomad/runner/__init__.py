"""The runner `nomad`: an attempt is a dispatched batch job of a Nomad cluster.

Nomad's own restarts and reschedules are off; attempts outlive the gateway. It must not start a
job's process itself.
"""

from weft.plugins.runners.remote import RemoteRunner
from weft.plugins.runners.remote.handles import Handles, tag_of
from weft.ports.runner import RunnerSite
from weft_nomad.runner.client import NomadClient
from weft_nomad.runner.engine import NomadEngine
from weft_nomad.settings import NomadSettings


def open_nomad(site: RunnerSite) -> RemoteRunner:
    """Return the gateway of this worker to Nomad. Raise `WrongNomadAddress`."""
    settings = site.section(NomadSettings)
    engine = NomadEngine(NomadClient(settings), settings, site.limits, tag=tag_of(site.state))
    handles = Handles(site.state)
    return RemoteRunner(engine, handles, site.log_writer, site.worker, limits=site.limits)
