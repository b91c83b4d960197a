"""Texts that cost whoever evaluates them, and the requests that carry them in every field.

The fields of documents are found from their types, those of a production line from the examples of
its guide. Only what goes beside a text – a job under a guard, an application – is written here.
"""

import io
import json
import re
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from api.field_walk import Try, fields_of
from weft.api.app import Application
from weft.core.problems import pointer_of

ROOT: Final = Path(__file__).resolve().parents[1]
_LISTS: Final = {"l": ["0"] * 790, "m": ["0"] * 790}
_LEVELS: Final = 9
HOSTILE: Final[Mapping[str, str]] = {
    "deep": "(" * 400 + "1" + ")" * 400,
    "exponential": "[1,1,1,1].map(a," * _LEVELS + "a" + ")" * _LEVELS,
    "loop": f"item.l.all(x,item.l.size()>0&&{'&&'.join(['item.l==item.m'] * 40)})",
    "pattern": "||".join(rf"job.name.matches('\\w{{10}}[a-y]{n}$')" for n in range(10)),
    "pattern of an item": "||".join(rf"item.key.matches('\\w{{10}}[a-y]{n}$')" for n in range(10)),
    "bare pattern": r"(([a-z]+)+){5}[^\s]{500}[\w-]{500}!",
    "schema": json.dumps(
        {"allOf": [{"pattern": rf"[^\s]{{{500 + n}}}[\w-]{{500}}"} for n in range(320)]}
    ),
    "template": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    "large": "{{ 'x' * 99999999999 }}",
}
"""What is tried in each field, by what is wrong with it."""
_PATTERN: Final = HOSTILE["bare pattern"]
SCHEMAS: Final[Mapping[str, Any]] = {
    "pattern": {"pattern": _PATTERN},
    "many": {"allOf": [{"pattern": _PATTERN}] * 300},
    "repeated": {"properties": {"a": {"pattern": "(a{1,1000}){1,1000}"}}},
    "nested": json.loads('{"not":' * 90 + "{}" + "}" * 90),
}
"""What is tried where a schema stands, not a text."""
_ABOUT_JOBS: Final = "/v1/queue-test"
"""It asks guards about jobs, which are data there; a submission has the same fields."""
_BASE: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "source": ("clock", {"kind": "schedule", "cron": "* * * * *", "job": "j", "sink": "s"}),
    "job": ("j", {"command": ["true"]}),
    "sink": ("s", {"kind": "http", "url": "https://example.org/", "message": "{}"}),
}
"""A line in which the table with a text takes the place of its like."""
_NAMES: Final = {"configure": "j"}
_HOLE: Final = "@hole@"
_APP: Final = "evaluated"


class Request(NamedTuple):
    """One request of the tenant that is a nuisance."""

    method: str
    path: str
    body: bytes

    @classmethod
    def of(cls, method: str, path: str, document: object) -> "Request":
        """Return a request with a document."""
        return cls(method, path, json.dumps(document).encode())


class Field(NamedTuple):
    """A place for texts, and the request in which it stands."""

    name: str
    request: Request

    def with_json(self, text: str) -> Request:
        """Return the request with this in place of a text."""
        hole = json.dumps(_HOLE).encode()
        return self.request._replace(body=self.request.body.replace(hole, text.encode()))

    def holding(self, text: str) -> Request:
        """Return the request with this text."""
        quoted = (
            json.dumps(json.dumps(text)[1:-1])[1:-1] if self.is_line else json.dumps(text)[1:-1]
        )
        return self.request._replace(
            body=self.request.body.replace(_HOLE.encode(), quoted.encode())
        )

    def pointer(self, text: str) -> str:
        """Return where the text is: it stands as a key if the field has no name."""
        way = self.name.split(" ", 2)[2].split("/")
        where = pointer_of(*(text if part == "KEY" else part for part in way))
        return where.encode("utf-8", "backslashreplace").decode()

    @property
    def is_line(self) -> bool:
        """Say whether it stands in the text of a line."""
        return self.name.startswith("[")


def fields_of_documents(app: Application, kind: type = str) -> Iterator[Field]:
    """Yield every text field, or field of another kind, of every document."""
    paths = {one.path for one in fields_of(app, (str,), _HOLE)} - {_ABOUT_JOBS}
    for one in fields_of(app, (kind,), _HOLE, paths):
        yield Field(f"{one.method} {one.path} {one.where}", _request(one))


def _request(one: Try) -> Request:
    return Request.of(one.method, one.path, one.document)


def fields_of_lines() -> Iterator[Field]:
    """Yield every text of every table that the guide of production lines shows, once."""
    seen = set[str]()
    guide = (ROOT / "docs/guides/production-lines.md").read_text()
    for block in re.findall(r"```toml\n(.*?)```", guide, re.DOTALL):
        for section, tables in tomllib.loads(block).items():
            for table in tables.values():
                for way, held in _places(table) if isinstance(table, dict) else ():
                    name = f"[{section}] {'.'.join(way)}"
                    if name not in seen:
                        seen.add(name)
                        yield Field(name, trial_of(section, held))


def _places(value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401 (of a file)
    """Yield the way to each text, and the whole with a hole there."""
    match value:
        case str():
            yield (), _HOLE
        case dict():
            for name, inner in value.items():
                for way, held in _places(inner):
                    yield (name, *way), {**value, name: held}
        case list():
            for way, held in _places(value[0]) if value else ():
                yield way, [held, *value[1:]]


def trial_of(section: str, table: Mapping[str, Any]) -> Request:
    """Return the trial of a line with a table, and an item."""
    tables = {part: dict([named]) for part, named in _BASE.items()}
    name = _BASE[section][0] if section in _BASE else _NAMES.get(section, "n")
    usual = {"job": "j"} if section == "source" else {}
    tables[section] = {name: {**table, **usual}}
    text = "".join(
        f"[{part}.{name}]\n"
        + "".join(f"{_inline(key)} = {_inline(held)}\n" for key, held in one.items())
        for part, named in tables.items()
        for name, one in named.items()
    )
    document = {"document": text, "item": {"key": "a" * 4000, **_LISTS}, "product": {"type": "t"}}
    return Request.of("POST", "/v1/setups/line/trial", document)


def _inline(value: Any) -> str:  # noqa: ANN401 (of a file)
    """Return a value in TOML."""
    match value:
        case dict():
            fields = (f"{_inline(name)} = {_inline(held)}" for name, held in value.items())
            return f"{{{', '.join(fields)}}}"
        case list():
            return f"[{', '.join(map(_inline, value))}]"
        case bool() | int() | float() | str():
            return json.dumps(value, ensure_ascii=False)
    return json.dumps(str(value))


def jobs_under_guards() -> tuple[list[Request], Request]:
    """Return what makes a queue with a costly guard, and a submission of jobs that ask it."""
    queue = {"name": "guarded", "priority": 5, "guard": HOSTILE["pattern"]}
    jobs = [{"command": ["true"], "name": f"a{n}" * 40} for n in range(300)]
    return (
        [Request.of("PUT", "/v1/queues", {"queues": [queue]})],
        Request.of("POST", "/v1/batches", {"jobs": jobs}),
    )


def jobs_of_an_app() -> tuple[list[Request], Request]:
    """Return what makes an application with a costly pattern, and a submission of its jobs: few,
    for a large body costs the api itself.
    """
    value = {"type": "string", "validator": r"[a-z]*[a-y]*\w{10}[a-y]0"}
    described = {
        "name": _APP,
        "version": "1",
        "templatePath": "app.sh",
        "parameters": [{"id": "word", "value": value}],
    }
    packed = _packed({"app.json": json.dumps(described).encode(), "app.sh": b"true\n"})
    digest = sha256(packed).hexdigest()
    job = {"app": f"{_APP}-1", "parameters": {"word": "a" * 4000}}
    return (
        [
            Request("PUT", f"/v1/app-parts/{digest}/1?bytes={len(packed)}", packed),
            Request.of("PUT", f"/v1/apps/{_APP}-1", {"digest": digest, "n_bytes": len(packed)}),
        ],
        Request.of("POST", "/v1/batches", {"jobs": [job] * 10}),
    )


def _packed(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()
