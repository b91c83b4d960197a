"""`weft share` and `weft unshare`: who else sees a batch, and what they may do."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_batch
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.plain import one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json, print_table
from weft.core.ids import format_batch_id
from weft.wire.permission_documents import PermissionWord

HEADER = ("User", "May", "Since", "By")
_MEANS = {
    "read": "see",
    "execute": "see and control",
    "write": "see and change",
    "all": "do everything to",
}
With = Annotated[str, Parameter(name="--with")]


def share(
    batch: str,
    /,
    *,
    user: Annotated[str | None, Parameter(name="--with")] = None,
    may: PermissionWord = "read",
    shared: Shared = SHARED,
) -> int:
    """Let a user of your tenant see a batch, or list with whom it is shared.

        weft share b12 --with ann --may execute
        weft share b12

    The owner and the members of the billing project may do everything anyway.

    Args:
        batch: `b12`.
        user: Name of the user.
        may: read: see it; execute: also cancel, hold, release and retry its jobs;
            write: also edit it, add jobs, hide and delete it; all: also share it.
        shared: Options of every command.
    """
    batch_id = parse_batch(batch)
    if user is None:
        return _list(shared, batch_id)
    return _tell(shared, shared.ask(lambda client: client.share_batch(batch_id, user, may)))


def unshare(batch: str, /, *, user: With, shared: Shared = SHARED) -> int:
    """Share a batch with a user no longer.

        weft unshare b12 --with ann

    A member of its billing project still sees it.

    Args:
        batch: `b12`.
        user: Name of the user.
        shared: Options of every command.
    """
    batch_id = parse_batch(batch)
    return _tell(shared, shared.ask(lambda client: client.unshare_batch(batch_id, user)))


def _tell(shared: Shared, answer: Mapping[str, Any]) -> int:
    if shared.json:
        print_json(answer)
        return 0
    name, what = one_line(answer["user"], width=64), format_batch_id(answer["batch_id"])
    if answer["permission"] is None:
        note(f"{what} is not shared with {name}")
    else:
        note(f"{name} may {_MEANS[answer['permission']]} {what}")
    return 0


def _list(shared: Shared, batch_id: int) -> int:
    found = shared.ask_all(lambda client: client.list_permissions(batch_id))
    if shared.json:
        print_json(found)
        return 0
    rows = [
        (
            one_line(one["user"], width=64),
            one["permission"],
            moment(one["granted_at"]),
            one_line(one["granted_by"], width=64),
        )
        for one in found
    ]
    print_table(HEADER, rows, spare=("By",))
    return 0
