"""`weft rename` and `weft set`: change the name, attributes or priority of something."""

import re
from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import SHARED, Shared, WrongOption, parse_attribute
from weft.cli.input.targets import parse_target
from weft.cli.terminal.report import note
from weft.client.api import Api, Document
from weft.client.objects.operation import end_of
from weft.core.errors import Invalid

_COMMAND_OF = {"name": "`weft rename {} NAME`", "priority": "`weft set {} --priority N`"}
"""What sets a field of which somebody has set an attribute of the same name."""


_LIKE_ID = re.compile(r"b[0-9]+(\.j?[0-9]+)?")


class NothingToSet(Invalid, code="CLI.NOTHING_TO_SET"):
    """No attribute and no priority to set."""

    advice = "Write key=value to set an attribute, or --priority N."


def rename(target: str, name: str, /, *, shared: Shared = SHARED) -> None:
    """Rename a batch, a job or a group. Renaming a group changes the paths below it.

        weft rename b12/stage1 'first stage'

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        name: The new name; an empty one removes the name (not of a group).
    """
    if _LIKE_ID.fullmatch(name):
        raise WrongOption(
            f"{name!r} is how batches and jobs are numbered, and cannot be a name",
            hint="Choose a name that is not as b12 or b12.j7.",
        )
    _edit_target(
        target, {"name": name or None}, shared, done=f"named {name}" if name else "unnamed"
    )


def set_attributes(
    target: str, /, *attributes: str, priority: int | None = None, shared: Shared = SHARED
) -> None:
    """Set or remove attributes, or set the priority, of a batch, a job or a group.

        weft set b12 cohort=scz1 owner= --priority 10

    Args:
        target: `b12`, `b12.j7` or `b12/stage1`.
        attributes: `key=value`; `key=` removes it.
        priority: Priority of a job, or of all unfinished jobs of a batch or group: higher first,
            -1000 to 1000. The command waits until all have it; if you stop it, the server goes on.
    """
    patch: dict[str, Any] = {}
    if attributes:
        patch["attributes"] = dict(parse_attribute(word) for word in attributes)
    if priority is not None:
        patch["priority"] = priority
    if not patch:
        raise NothingToSet(
            "nothing to set", detail="The command names no attribute and no priority."
        )
    _edit_target(target, patch, shared, done=f"{' and '.join(patch)} set")
    for key in sorted(_COMMAND_OF.keys() & patch.get("attributes", {})):
        note(
            f"{key} is an attribute here; {_COMMAND_OF[key].format(target)} sets the {key} itself"
        )


def _edit_target(text: str, patch: Mapping[str, Any], shared: Shared, *, done: str) -> None:
    """Send a merge patch for `b12`, `b12.j7` or `b12/stage1`, and say that it is done."""
    target = parse_target(text)

    async def edit(api: Api) -> Document:
        document = await target.ask(api.edit_batch, api.edit_job, api.edit_group, patch)
        if target.job_id is None and "priority" in patch:
            await end_of(api, document, text)
            document = await api.get_operation(document["id"])
        return document

    shared.tell(shared.ask(edit), f"{text}: {done}")
