"""Sinks of a setup, `[sink.NAME]`: where what jobs have made is announced."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from weft.core.bounded import read_json
from weft.core.deliveries.sinks import are_words, validator_of
from weft.core.files.file_paths import WrongPath, parts_of
from weft.core.lines.lifecycle import Say
from weft.core.lines.line import Sink
from weft.ports.line_kinds import SinkKind, kinds_of
from weft.ports.sink import MANY, MESSAGE_CHARS_MAX, WORDS_MAX, SinkReader
from weft_lines.rules.source import kind_first

PRODUCT: Final = "{{ product | tojson }}"
"""The template of a sink with `each` or `products` that has none: the product as it is."""
SCHEMA_CHARS_MAX: Final = 65_536
EACH_CHARS_MAX: Final = 200
TRIES_MAX: Final = 1000
PATH_MAX: Final = 20
_BY_QUEUE: Final = frozenset({"exchange", "queue", "match"})
_COMMON: Final = (
    "kind",
    "message",
    "each",
    "products",
    "events",
    "schema",
    "checks",
    "order",
    "retry",
    "given_up",
    "rejected",
)
_TRIES: Final = 20
SINK_KINDS: Final = dict(
    sorted(kinds_of(SinkKind, "sinks").items(), key=lambda named: named[1].position)
)
_CODES: Final = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")


def parse_sink(document: Mapping[str, Any], say: Say) -> Sink | None:
    """Check one sink; it counts if nothing was said about it."""

    def wrong(field: str, what: str) -> None:
        say((field,), what)

    document = kind_first(document)
    given, known = document.get("kind"), ", ".join(SINK_KINDS)
    if given is None:
        wrong("kind", f"a sink needs it: one of {known}")
        return None
    kind = SINK_KINDS.get(given) if isinstance(given, str) else None
    if kind is None:
        wrong(
            "kind",
            f"there is no kind of sink {str(given)[:40]!r}; there are {known}, and a "
            'program of kind = "command" sends anywhere',
        )
        return None
    document = kind.usual(document)
    reader = _Reader(document, wrong)
    fields = (*_COMMON, *kind.fields)
    for name in document:
        if name not in fields:
            wrong(str(name), _not_known(str(name), given, fields))
        elif name not in kind.secrets and "${secret." in str(document[name]):
            wrong(
                name,
                "a secret may stand in `url` and `headers` of the kind http, and in `url` "
                "of the kind sql, only",
            )
    each = reader.each()
    products, events = reader.flag("products"), reader.flag("events")
    target = kind.target(reader)
    is_given = "message" in document or ("each" not in document and not products)
    message = reader.text("message", MESSAGE_CHARS_MAX) if is_given else PRODUCT
    if message is None:
        wrong("message", f"it should be a template of 1 to {MESSAGE_CHARS_MAX} characters")
    elif mistake := _mistake_of(message):
        wrong("message", mistake)
    order = reader.text("order", 64)
    if order is None and "order" in document:
        wrong("order", "it should be the name of an attribute of jobs")
    retry = reader.tries("retry", ("policy",), _TRIES)
    given_up = reader.tries("given_up", (), 0)
    rejected = reader.tries("rejected", ("codes",), 1)
    codes = reader.codes(kind.codes)
    schema, checks = reader.schema(), reader.checks()
    ends = given_up.path or retry.path[:1]
    return Sink(
        target.url,
        message or "",
        order,
        retry.tries,
        retry.path,
        ends,
        codes,
        rejected.tries,
        rejected.path or ends,
        target.command,
        target.timeout_s,
        each,
        products,
        schema,
        given,
        target.options,
        checks,
        target.headers,
        events,
    )


def _not_known(name: str, kind: str, known: tuple[str, ...]) -> str:
    if name == "url" and "transport" in known:
        return (
            "its login stands in an entry of transports_file: write transport = NAME, or an "
            "address such as amqps://${env.USER}:${env.PASSWORD}@HOST"
        )
    return f"a sink of kind {kind} has no such field; it has {', '.join(known)}"


@dataclass(frozen=True)
class _Tries:
    tries: int
    path: tuple[str, ...] = ()


def _mistake_of(template: str) -> str | None:
    """Return what is wrong with the form of a template; it is filled elsewhere."""
    from jinja2 import Environment, TemplateSyntaxError, meta  # noqa: PLC0415 (20 ms)

    environment = Environment(autoescape=False)  # noqa: S701 (JSON)
    try:
        named = meta.find_undeclared_variables(environment.parse(template))
    except TemplateSyntaxError as error:
        return f"it is no template: line {error.lineno}: {error.message}"
    except (ValueError, RecursionError):
        return "it is no template: a number is too long, or it is nested too deeply"
    unknown = ", ".join(sorted(named - {"job", "product"} - environment.globals.keys()))
    return f"a message knows `job` and `product`, and no {unknown}" if unknown else None


class _Reader(SinkReader):
    """Reads the fields that sinks of all kinds have."""

    def text(self, field: str, longest: int) -> str | None:
        """Return a text, `None` if it is none."""
        given = self.document.get(field)
        return given if isinstance(given, str) and 0 < len(given) <= longest else None

    def checks(self) -> Mapping[str, tuple[str, ...]]:
        """Return programs by the names of checks."""
        given = self.document.get("checks", {})
        if not isinstance(given, Mapping) or len(given) > WORDS_MAX:
            self.wrong("checks", f"it should be a table of at most {WORDS_MAX} programs")
            return {}
        return {name: self.command("checks", one) for name, one in given.items()}

    def each(self) -> str | None:
        """Return the pattern of files."""
        given = self.text("each", EACH_CHARS_MAX)
        if given == "products":
            given = "products/*.json"
        if "each" in self.document and given is None:
            self.wrong("each", 'it should be a pattern of files such as "products/*.json"')
        elif given is not None:
            try:
                parts_of(given.removesuffix("/"))
            except WrongPath as error:
                self.wrong("each", str(error))
        return given

    def flag(self, field: str) -> bool:
        """Return whether these are the messages: products or events."""
        given: object = self.document.get(field, False)
        if not isinstance(given, bool):
            self.wrong(field, "it should be true or false")
            return False
        first = next((one for one in MANY if self.document.get(one)), field)
        if given and first != field:
            self.wrong(field, f"messages are {field}, or those of `{first}`; leave one out")
        return given

    def schema(self) -> Mapping[str, Any] | None:
        """Return the schema; it may be a table, or JSON."""
        given = self.document.get("schema")
        if given is None:
            return None
        try:
            found = read_json(given) if isinstance(given, str) else given
            if isinstance(found, Mapping) and len(json.dumps(found)) <= SCHEMA_CHARS_MAX:
                validator_of(found)
                return found
        except (TypeError, ValueError) as error:
            self.wrong("schema", str(error).partition("\n")[0][:200])
            return None
        most = SCHEMA_CHARS_MAX
        self.wrong("schema", f"it should be a JSON Schema of at most {most} characters")
        return None

    def tries(self, field: str, others: tuple[str, ...], tries: int) -> _Tries:
        """Return the tries and the path of statuses of a table; `tries` 0: it has none."""
        given = self.document.get(field, {})
        known = (*(("tries",) if tries else ()), "path", *others)
        if isinstance(given, Mapping) and field == "rejected" and _BY_QUEUE & given.keys():
            self.wrong(
                field,
                "weft hears no rejections from a queue; let a source of kind amqp "
                "read it, and leave exchange, queue and match out",
            )
            return _Tries(tries)
        if not isinstance(given, Mapping) or not all(one in known for one in given):
            self.wrong(field, f"it should be a table of {', '.join(known)}")
            return _Tries(tries)
        if given.get("policy", "exponential") != "exponential":
            self.wrong(field, 'its policy should be "exponential"')
        number = given.get("tries", tries)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if tries and not (is_number and 1 <= number <= TRIES_MAX):
            self.wrong(field, f"its tries should be a number from 1 to {TRIES_MAX}")
        path = given.get("path", [])
        if not isinstance(path, list) or len(path) > PATH_MAX or not are_words(path):
            self.wrong(field, f"its path should be a list of at most {PATH_MAX} statuses")
            return _Tries(tries)
        return _Tries(number, tuple(path))

    def codes(self, usual: str | None) -> tuple[tuple[int, int], ...]:
        """Return what rejects a message: `usual`, if the sink says nothing of it. `usual` None:
        such a sink has no codes.
        """
        table = self.document.get("rejected", {})
        if not isinstance(table, Mapping):
            return ()
        if usual is None:
            if "codes" in table:
                self.wrong("rejected", "a sink of this kind has no codes")
            return ()
        given = table.get("codes", usual)
        found = []
        for one in given if isinstance(given, list) else [given]:
            match = None if isinstance(one, bool) else _CODES.fullmatch(str(one))
            first = int(match[1]) if match else 0
            last = int(match[2]) if match and match[2] else first
            if not 1 <= first <= last:
                self.wrong("rejected", 'its codes should be numbers or ranges such as "400-499"')
                return ()
            found.append((first, last))
        return tuple(found)
