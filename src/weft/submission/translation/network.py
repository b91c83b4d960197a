"""Jobs that run without network: checked, and marked for runners that can see to it."""

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.settings import Settings
from weft.wire.documents.batches import JobDocument
from weft.wire.spec import NO_NETWORK, JobSpec, requiring


def check_network(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note a call of a function that forbids the network."""
    if job.network is False and job.function is not None:
        message = "calls of functions share processes, which have the network of their worker"
        problems.add(InvalidValue, f"{at}/network", message)


def without_network(spec: JobSpec) -> JobSpec:
    """Let only runners run this job that can keep it from the network."""
    return requiring(spec, NO_NETWORK) if spec.network is False else spec
