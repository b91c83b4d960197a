"""What documents say about their fields, for the reference and `/openapi.json`."""

from msgspec import Meta


def says(text: str, *examples: object, unit: str | None = None) -> Meta:
    """Describe a field: what it means, examples, and the unit of a number."""
    return Meta(
        description=text,
        examples=list(examples) or None,
        extra_json_schema={"x-unit": unit} if unit else None,
    )
