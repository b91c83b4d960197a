"""Options that say who pays for a batch and how it is found, for commands that make one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from weft.cli.input.attributes import parse_attribute
from weft.cli.input.signature import Parameter
from weft.cli.input.text import check_text


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """Fields of a batch."""

    billing_project: Annotated[str | None, Parameter(group="Batch")] = None
    """Billing project that pays (default: default)."""

    attribute: Annotated[tuple[str, ...], Parameter(group="Batch", negative="")] = ()
    """Attribute KEY=VALUE of the batch, for queries such as 'KEY = VALUE'; may be repeated."""


NO_BATCH_OPTIONS = BatchOptions()


def batch_fields(
    options: BatchOptions, attributes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of a batch document. `attributes`: those that it has already, of which the
    options replace what has the same key.
    """
    check_text([*options.attribute, options.billing_project or ""])
    found = {**(attributes or {}), **dict(map(_attribute, options.attribute))}
    fields: dict[str, Any] = {"attributes": found} if found else {}
    if options.billing_project is not None:
        fields["billing_project"] = options.billing_project
    return fields


def _attribute(word: str) -> tuple[str, str]:
    key, value = parse_attribute(word)
    return key, value or ""
