"""The secrets that jobs ask for: checked, and noted in their specs. Values never come here."""

from weft.core.errors import InvalidValue
from weft.core.problems import Problems
from weft.settings import Settings
from weft.wire.documents.batches import JobDocument
from weft.wire.spec import SECRETS, JobSpec, requiring


def check_uses(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note secrets that are neither a variable nor a file, or both, or two in the same one."""
    taken: set[tuple[str | None, ...]] = set()
    for n, use in enumerate(job.secrets or ()):
        target = (use.env, use.file, use.registry and "")
        if sum(one is not None for one in target) != 1:
            message = "a secret becomes a variable (`env`) or a file (`file`)"
            problems.add(InvalidValue, f"{at}/secrets/{n}", message)
        elif use.registry is not None and job.container is None:
            message = "only a job with `container` has an image of a registry"
            problems.add(InvalidValue, f"{at}/secrets/{n}/registry", message)
        elif target in taken:
            message = f"another secret is {use.env or use.file or 'for a registry'} already"
            problems.add(InvalidValue, f"{at}/secrets/{n}", message)
        taken.add(target)


def with_secrets(spec: JobSpec) -> JobSpec:
    """Let only runners run this job that can give it its secrets."""
    return requiring(spec, SECRETS) if spec.secrets else spec
