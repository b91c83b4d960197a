"""Targets of commands: a batch `b12`, a job `b12.j7` or a group `b12/stage1`."""

import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, NamedTuple

from weft.client.api import Api, Document
from weft.core.errors import BadId
from weft.core.graph.group_tree import is_like_number
from weft.core.ids import BatchId, JobId, parse_batch_id, parse_job_ref

Call = Callable[..., Awaitable[Document]]


class Target(NamedTuple):
    """A batch, and within it a job or a group, or neither."""

    batch_id: BatchId
    job_id: JobId | None = None
    group: str | None = None
    """A path that begins with a slash; or a name: of a set, else of a group below the root."""

    async def ask(self, batch: Call, job: Call, group: Call, *more: object) -> Document:
        """Call what is for its kind, with its numbers and `more`."""
        if self.job_id is not None:
            return await job(self.batch_id, self.job_id, *more)
        if self.group is not None:
            return await group(self.batch_id, self.group, *more)
        return await batch(self.batch_id, *more)


def parse_batch(text: str) -> BatchId:
    """Read `b12`. Raise `BadId` for anything else."""
    target = parse_target(text, groups=False)
    if target.job_id is not None:
        raise BadId(text, expected="a batch is written b12", why="a job, and a batch is needed")
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
        await target.ask(client.get_batch, client.get_job, client.get_group)


SAVED: Final = re.compile(r"@([A-Za-z][A-Za-z0-9_.-]{0,62})")


async def query_of(client: Api, text: str) -> str:
    """Return a query as it is, or the one that was saved as `@NAME`."""
    if saved := SAVED.fullmatch(text):
        return str((await client.get_saved_query(saved[1]))["query"])
    return text
