"""What documents say about their fields, for the reference and `/openapi.json`; a JSON Schema in
words; how patterns of texts end, and the names that several documents have.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

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


_LIMITS: Final = (
    ("minimum", "from {}"),
    ("exclusiveMinimum", "above {}"),
    ("maximum", "to {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("pattern", "`{}`"),
    ("format", "{}"),
)


def describe_kind(schema: Mapping[str, Any]) -> str:
    """Return the type and the limits of a value on one line, without null."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return _either(schema["anyOf"])
    if "enum" in schema:
        return _either_word([f"`{word}`" for word in schema["enum"] if word is not None])
    kinds = schema.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if kind != "null"]
    text = _either_word([_kind(kind, schema) for kind in kinds])
    limits = [words.format(schema[name]) for name, words in _LIMITS if name in schema]
    return " ".join([text, *limits])


def _kind(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(describe_kind(one) for one in schema['prefixItems'])}]"
        inner = describe_kind(schema.get("items") or {})
        return f"list of {inner}" if inner != "anything" else "list"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, Mapping) and "properties" not in schema:
        return f"object of {describe_kind(values)}" if values else "object"
    return kind


def _either(schemas: Sequence[Mapping[str, Any]]) -> str:
    return _either_word([describe_kind(one) for one in schemas if one.get("type") != "null"])


def _either_word(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
