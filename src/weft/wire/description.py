"""What documents say about their fields, for the reference and `/openapi.json`; how
patterns of texts end, and the names that several documents have.
"""

from typing import Annotated, Final

from msgspec import Meta


def says(text: str, *examples: object, unit: str | None = None) -> Meta:
    """Describe a field: what it means, examples, and the unit of a number."""
    return Meta(
        description=text,
        examples=list(examples) or None,
        extra_json_schema={"x-unit": unit} if unit else None,
    )


EVALUATED: Final = Meta(extra={"evaluated": True})
"""Marks what is evaluated: only `Evaluates.each` does that, elsewhere and within a budget."""
END: Final = r"$(?!\n)"
"""The end of a text. In Python `$` alone also stands before a line break at the end; in the
dialect of OpenAPI it does not, and both mean the same.
"""
QueueName = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,62}" + END)]
