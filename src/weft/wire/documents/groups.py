"""The documents about groups."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.documents.field_types import (
    ATTRIBUTES,
    CALLBACK,
    CANCEL_AFTER,
    GroupKind,
    PositiveInt,
    RelativeNumber,
)

GROUPS = says("Groups with options; a path that jobs merely name needs no entry.")
_GROUP_KIND = says("`tree` for a path, `set` for a name; may be left out.", "set")


class GroupDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A group in a document that is submitted in one request: `path` for a tree group, whose
    missing ancestors are created, or `name` for a set.
    """

    path: Annotated[str | None, says("Of a tree group, from the root.", "/stage1/part2")] = None
    name: Annotated[str | None, says("Of a set.", "pca")] = None
    kind: Annotated[GroupKind | None, _GROUP_KIND] = None
    attributes: Annotated[dict[str, str], ATTRIBUTES] = {}
    cancel_after_n_failures: Annotated[PositiveInt | None, CANCEL_AFTER] = None
    callback: Annotated[str | None, CALLBACK] = None


class GroupInBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A group in a bunch."""

    name: Annotated[str, says("Of the group, unique below its parent.", "stage1")]
    parent: Annotated[
        RelativeNumber,
        says("A number within the update, 0 the root, -3 the existing group 3; a set has none."),
    ] = 0
    kind: Annotated[GroupKind, says("A tree group or a set.", "set")] = "tree"
    attributes: Annotated[dict[str, str], ATTRIBUTES] = {}
    cancel_after_n_failures: Annotated[PositiveInt | None, CANCEL_AFTER] = None
    callback: Annotated[str | None, CALLBACK] = None
