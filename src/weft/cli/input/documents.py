"""Files that describe a batch, in YAML, TOML or JSON: the document of `POST /v1/batches`."""

import json
import tomllib
from collections.abc import Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weft.core.errors import Invalid

if TYPE_CHECKING:
    import yaml

Format = Literal["yaml", "toml", "json"]
FORMATS: Mapping[str, Format] = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".json": "json",
}


class UnreadableDocument(Invalid):
    """A file that cannot be read as a document."""

    code = "CLI.UNREADABLE_DOCUMENT"


def format_of(path: str) -> Format:
    """Return the format of a file by its extension. Raise `UnreadableDocument` for others."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UnreadableDocument(
            f"cannot tell the format of {path!r}",
            detail="Its name does not end with .yaml, .yml, .toml or .json.",
            hint="Name the format: --format yaml, toml or json.",
        )
    return FORMATS[suffix]


def parse_document(body: bytes, form: Format, *, name: str) -> dict[str, Any]:
    """Return the document. Raise `UnreadableDocument` with the position of the mistake."""
    try:
        document = _PARSERS[form](body.decode())
    except (ValueError, RecursionError) as error:
        too_deep = isinstance(error, RecursionError)
        raise UnreadableDocument(
            f"cannot read {name} as {form.upper()}",
            detail="It is nested too deeply." if too_deep else f"{error}.",
            hint="Correct it; nothing was submitted.",
        ) from error
    if not isinstance(document, dict):
        raise UnreadableDocument(
            f"{name} is not a batch document",
            detail="It is not a mapping from names to values.",
            hint="Begin it with `name:` and `jobs:`.",
        )
    return document


def _parse_yaml(text: str) -> Any:  # noqa: ANN401 (any document)
    import yaml  # noqa: PLC0415

    try:
        return yaml.load(text, Loader=_loader())  # noqa: S506 (a safe loader with one more check)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


def _loader() -> "type[yaml.SafeLoader]":
    """Return the safe loader, in C where there is one, that refuses the same key twice."""
    import yaml  # noqa: PLC0415

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 (PyYAML's)
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"the key {key.value!r} stands there twice", key.start_mark
                        )
                    seen.add(key.value)
            return super().construct_mapping(node, deep=deep)

        def construct_time(self, node: Any) -> Any:  # noqa: ANN401 (PyYAML's)
            return self.construct_scalar(node)

    # A date is text here: every field that holds one takes text.
    Loader.add_constructor("tag:yaml.org,2002:timestamp", Loader.construct_time)
    return Loader


def _parse_toml(text: str) -> Any:  # noqa: ANN401 (any document)
    return _times_as_text(tomllib.loads(text))


def _parse_json(text: str) -> Any:  # noqa: ANN401 (any document)
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands in one object twice")
    return found


def _times_as_text(value: Any) -> Any:  # noqa: ANN401 (any document)
    if isinstance(value, dict):
        return {key: _times_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_times_as_text(item) for item in value]
    return value.isoformat() if isinstance(value, datetime | date | time) else value


_PARSERS = {"yaml": _parse_yaml, "toml": _parse_toml, "json": _parse_json}
