"""JSON Schema in words, for the pages that are made from it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_LIMITS: Final = (
    ("minimum", "from {}"), ("exclusiveMinimum", "above {}"), ("maximum", "to {}"),
    ("minLength", "at least {} characters"), ("maxLength", "at most {} characters"),
    ("pattern", "`{}`"), ("format", "{}"),
)  # fmt: skip


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
