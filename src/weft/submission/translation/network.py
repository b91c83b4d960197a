"""Jobs that run without network: checked, and marked for workers that can see to it."""

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.settings import Settings
from weft.wire.documents import JobDocument
from weft.wire.spec import WITHOUT_NETWORK, JobSpec


def check_network(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note a call of a function that forbids the network."""
    if job.network is False and job.function is not None:
        message = "calls of functions share processes, which have the network of their worker"
        problems.add(InvalidValue, f"{at}/network", message)


def without_network(spec: JobSpec) -> JobSpec:
    """Let only workers run this job that can keep it from the network."""
    if spec.network is not False:
        return spec
    return msgspec.structs.replace(spec, executor=WITHOUT_NETWORK + spec.executor)
