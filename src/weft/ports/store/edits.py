"""The calls of the api that change existing batches, groups and jobs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Patch = Mapping[str, Any]
"""A JSON merge patch (RFC 7396) with some of `name`, `attributes` and
`priority`; null removes."""


@dataclass(frozen=True)
class EditLimits:
    """Settings of the same names."""

    attributes_max: int
    rename_groups_max: int
