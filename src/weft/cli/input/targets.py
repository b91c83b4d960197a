"""Targets of commands: a batch `b12`, a job `b12.j7` or a group `b12/stage1`."""

from collections.abc import Iterable
from dataclasses import dataclass

from weft.client.api import Api
from weft.core.errors import BadId
from weft.core.graph.group_tree import is_like_number
from weft.core.ids import BatchId, JobId, parse_batch_id, parse_job_ref


@dataclass(frozen=True)
class Target:
    """A batch, and within it a job or a group, or neither."""

    batch_id: BatchId
    job_id: JobId | None = None
    group: str | None = None
    """A path that begins with a slash; or a name: of a set, else of a group below the root."""


def parse_batch(text: str) -> BatchId:
    """Read `b12`. Raise `BadId` for anything else."""
    target = parse_target(text, groups=False)
    if target.job_id is not None:
        raise BadId(text, expected="a batch is written b12")
    return target.batch_id


def parse_target(text: str, *, groups: bool = True) -> Target:
    """Read `b12`, `b12.j7`, `b12/stage1/a` or `b12/pca`. Raise `BadId` for anything else."""
    batch, slash, path = text.partition("/")
    if slash and groups:
        name = path.rstrip("/")
        # Else the server would take a name like `7` for a number.
        is_path = not name or "/" in name or is_like_number(name)
        return Target(parse_batch_id(batch), group=f"/{name}" if is_path else name)
    if "." in text:
        batch_id, job_id = parse_job_ref(text)
        return Target(batch_id, job_id=job_id)
    try:
        return Target(parse_batch_id(text))
    except BadId:
        kinds = "a batch is written b12, a job b12.j7" + (", a group b12/stage1" if groups else "")
        raise BadId(text, expected=kinds) from None


async def check_targets(client: Api, targets: Iterable[Target]) -> None:
    """Raise the server's error for the first that does not exist: of several, the command must not
    do half of what it was asked for.
    """
    first, *others = targets
    for target in (first, *others) if others else ():
        if target.job_id is not None:
            await client.get_job(target.batch_id, target.job_id)
        elif target.group is not None:
            await client.get_group(target.batch_id, target.group)
        else:
            await client.get_batch(target.batch_id)
