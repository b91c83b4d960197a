"""Options that say who pays for a batch and how it is found, for commands that make one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from weft.cli.input.options import WrongOption, check_text, parse_attribute
from weft.cli.input.signature import Parameter


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """Fields of a batch."""

    billing_project: Annotated[str | None, Parameter(group="Batch")] = None
    """Billing project that pays (default: default)."""

    attribute: Annotated[tuple[str, ...], Parameter(group="Batch", negative="")] = ()
    """Attribute KEY=VALUE of the batch, for queries such as 'KEY = VALUE'; may be repeated."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class KeyedBatchOptions(BatchOptions):
    """Fields of a batch that is submitted at once."""

    unique: Annotated[str | None, Parameter(group="Batch")] = None
    """Key that one batch has at a time: while another has it and has not ended, make nothing."""

    or_replace: Annotated[bool, Parameter(group="Batch", negative="")] = False
    """Cancel the batch that has the key of --unique, instead of making nothing."""


NO_BATCH_OPTIONS = BatchOptions()
NO_KEYED_OPTIONS = KeyedBatchOptions()


def batch_fields(
    options: BatchOptions, attributes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the fields of a batch document. `attributes`: those that it has already, of which the
    options replace what has the same key.
    """
    key = options.unique if isinstance(options, KeyedBatchOptions) else None
    check_text([*options.attribute, options.billing_project or "", key or ""])
    found = {**(attributes or {}), **dict(map(_attribute, options.attribute))}
    fields: dict[str, Any] = {"attributes": found} if found else {}
    if options.billing_project is not None:
        fields["billing_project"] = options.billing_project
    if key is None and isinstance(options, KeyedBatchOptions) and options.or_replace:
        raise WrongOption("`--or-replace` goes with `--unique`", hint="Add `--unique KEY`.")
    if isinstance(options, KeyedBatchOptions) and key is not None:
        fields["unique"] = {"key": key, "on_conflict": "replace" if options.or_replace else "skip"}
    return fields


def _attribute(word: str) -> tuple[str, str]:
    key, value = parse_attribute(word)
    return key, value or ""
