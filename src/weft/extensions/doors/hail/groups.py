"""From Hail's job-group specs to groups of weft. Hail's have no names, so they get unique ones."""

from collections.abc import Mapping, Sequence
from typing import Final

from weft.extensions.doors.hail.requests import TOO_DEEP, Document, bad_request, decode_value
from weft.extensions.doors.hail.shapes import GROUP
from weft.settings import Settings
from weft.submission.translation.request_size import refuse_too_many
from weft.wire.documents.batches import GroupDocument, GroupInBunch

LEVELS_MAX: Final = 2
"""Below the root."""
ROOT: Final = 0
OUT_OF_ORDER: Final = "job group specs were not submitted in order"


def specs_of(specs: Sequence[bytes], settings: Settings) -> list[Document]:
    """Return these specs, checked one by one. Raise `Refused`, `TooManyJobs`."""
    refuse_too_many("groups", len(specs), settings)
    found: list[Document] = []
    for index, raw in enumerate(specs):
        spec = decode_value(raw)
        name = f"job_groups[{index}]"
        GROUP(name, spec)
        if "in_update_parent_id" not in spec and "absolute_parent_id" not in spec:
            raise bad_request("job group must define in_update_parent_id or absolute_parent_id")
        if found and spec["job_group_id"] != (last := found[-1]["job_group_id"]) + 1:
            raise bad_request(
                f"noncontiguous job group ids found in the spec: {last} -> {spec['job_group_id']}"
            )
        found.append(spec)
    return found


def parent_of(spec: Document, first_group: int) -> int:
    """Return the number of a group's parent in its batch. Raise `Refused`."""
    if "absolute_parent_id" in spec:
        parent: int = spec["absolute_parent_id"]
    else:
        parent = first_group + spec["in_update_parent_id"] - 1
    if not ROOT <= parent < first_group + spec["job_group_id"] - 1:
        raise bad_request(OUT_OF_ORDER)
    return parent


def name_of(number: int) -> str:
    """Return the name of the group with this number in its batch."""
    return f"hail.{number}"


def whole_groups(specs: Sequence[Document]) -> tuple[list[GroupDocument], Mapping[int, str]]:
    """Return the groups of a batch that is being created, and the path of each number."""
    if specs and specs[0]["job_group_id"] != 1:
        raise bad_request(OUT_OF_ORDER)
    paths: dict[int, str] = {}
    documents: list[GroupDocument] = []
    for spec in specs:
        number, parent = spec["job_group_id"], parent_of(spec, 1)
        path = f"{paths.get(parent, '')}/{name_of(number)}"
        if path.count("/") > LEVELS_MAX:
            raise bad_request(TOO_DEEP)
        paths[number] = path
        documents.append(GroupDocument(path=path, **_fields(spec)))
    return documents, paths


def bunch_groups(specs: Sequence[Document], first_group: int) -> list[GroupInBunch]:
    """Return the groups of a bunch. How deep they are only the database can tell: their parents
    may have come in another bunch.
    """
    documents: list[GroupInBunch] = []
    for spec in specs:
        number, parent = first_group + spec["job_group_id"] - 1, parent_of(spec, first_group)
        relative = parent - first_group + 1 if parent >= first_group else -parent
        documents.append(GroupInBunch(name=name_of(number), parent=relative, **_fields(spec)))
    return documents


def _fields(spec: Document) -> Document:
    """Return what groups of both kinds share."""
    names = ("callback", "cancel_after_n_failures")
    return {"attributes": spec.get("attributes") or {}, **{name: spec.get(name) for name in names}}
