"""`weft share` and `weft unshare`: who else sees a batch or a job, and what they may do."""

from collections.abc import Mapping
from typing import Annotated, Any

from weft.cli.input.options import SHARED, Parameter, Shared
from weft.cli.input.targets import Target, parse_target
from weft.cli.terminal.screen import at, note, one_line, text
from weft.client.answer import Answer
from weft.client.api import Api
from weft.client.http.calls import Document, Listing
from weft.core.errors import BadId
from weft.core.ids import format_batch_id, format_job_ref
from weft.wire.documents.permissions import PermissionWord

_MEANS = {
    "read": "see",
    "execute": "see and control",
    "write": "see and change",
    "all": "do everything to",
}
With = Annotated[str, Parameter(name="--with")]


def share(
    target: str | None = None,
    /,
    *,
    user: Annotated[str | None, Parameter(name="--with")] = None,
    may: PermissionWord = "read",
    shared: Shared = SHARED,
) -> None:
    """Let a user of your tenant see a batch or one job, or list with whom it is shared.

        weft share b12 --with ann --may execute
        weft share b12.j7 --with ann
        weft share b12
        weft share

    The owner and the members of the billing project may do everything anyway.
    Without a target, list the single jobs that others have shared with you;
    `weft ls` lists the batches.

    Args:
        target: `b12` or `b12.j7`.
        user: Name of the user.
        may: read: see it; execute: also cancel, hold and release its jobs; write: also
            edit it; all: also share it. With a batch, execute also retries its jobs, and
            write also adds jobs, hides and deletes it.
    """
    if target is None:
        if user is not None:
            raise BadId("", expected="name what to share: a batch b12 or a job b12.j7")
        _list_jobs(shared)
        return
    found = parse_target(target, groups=False)
    if user is None:
        _list(shared, found)
    else:
        _tell(shared, shared.ask(lambda client: _share(client, found, user, may)))


def unshare(target: str, /, *, user: With, shared: Shared = SHARED) -> None:
    """Share a batch or one job with a user no longer.

        weft unshare b12 --with ann

    A member of its billing project still sees it.

    Args:
        target: `b12` or `b12.j7`.
        user: Name of the user.
    """
    found = parse_target(target, groups=False)
    _tell(shared, shared.ask(lambda client: _share(client, found, user, None)))


async def _share(client: Api, of: Target, user: str, may: PermissionWord | None) -> Document:
    if of.job_id is None:
        if may is None:
            return await client.unshare_batch(of.batch_id, user)
        return await client.share_batch(of.batch_id, user, may)
    if may is None:
        return await client.unshare_job(of.batch_id, of.job_id, user)
    return await client.share_job(of.batch_id, of.job_id, user, may)


def _permissions(client: Api, of: Target) -> Listing[Answer]:
    if of.job_id is None:
        return client.list_permissions(of.batch_id)
    return client.list_job_permissions(of.batch_id, of.job_id)


def _tell(shared: Shared, answer: Mapping[str, Any]) -> None:
    if shared.as_json(answer):
        return
    name, what = one_line(answer["user"], width=64), format_batch_id(answer["batch_id"])
    if "job_id" in answer:
        what = format_job_ref(answer["batch_id"], answer["job_id"])
    if answer["permission"] is None:
        note(f"{what} is not shared with {name}")
    else:
        note(f"{name} may {_MEANS[answer['permission']]} {what}")


def _list(shared: Shared, of: Target) -> None:
    found = shared.ask_all(lambda client: _permissions(client, of))
    shared.table(
        found,
        {
            "User": text("user", 64),
            "May": "permission",
            "Since": at("granted_at"),
            "By": text("granted_by", 64),
        },
        spare=("By",),
    )


def _list_jobs(shared: Shared) -> None:
    found = shared.ask_all(lambda client: client.list_shared_jobs())
    shared.table(
        found,
        {
            "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
            "Name": text("name", 64, "-"),
            "State": "state",
            "Of": text("user", 64),
            "May": "permission",
            "Since": at("granted_at"),
            "By": text("granted_by", 64),
        },
        spare=("By", "Since", "Name"),
    )
