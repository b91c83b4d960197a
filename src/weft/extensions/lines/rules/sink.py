"""Sinks of a setup, `[sink.NAME]`: where what jobs have made is announced."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.core.bounded import read_json
from weft.core.deliveries.credentials import wrong_headers, wrong_url
from weft.core.deliveries.sinks import COMMAND, HTTP, are_words, validator_of
from weft.core.files.file_paths import WrongPath, parts_of
from weft.core.lines.lifecycle import Say
from weft.core.lines.line import Sink
from weft.core.text.durations import duration_of
from weft.core.text.filling import FIELD, wrong_text
from weft.extensions.lines.rules.source import kind_first
from weft.extensions.lines.rules.sql import SQL, wrong_database_url, wrong_statement

MESSAGE_CHARS_MAX: Final = 32_768
PRODUCT: Final = "{{ product | tojson }}"
"""The template of a sink with `each` or `products` that has none: the product as it is."""
SCHEMA_CHARS_MAX: Final = 65_536
EACH_CHARS_MAX: Final = 200
TRIES_MAX: Final = 1000
PATH_MAX: Final = 20
WORDS_MAX: Final = 50
TIMEOUT_MAX_S: Final = 300
_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    HTTP: ("url", "headers"),
    "command": ("command", "timeout"),
    "s3": ("store", "key"),
    "amqp": ("transport", "exchange", "routing_key"),
    "kafka": ("transport", "topic", "key"),
    SQL: ("url", "statement"),
}
_USUAL: Final = {"routing_key": "", "key": "${job.id}"}
"""What a sink says if it says nothing of it; of `s3` see `_Reader.options`."""
_WITH_SECRETS: Final = {HTTP: _OWN[HTTP], SQL: ("url",)}
_EXCHANGE: Final = ("name", "type", "durable")
_BROKER: Final = re.compile(
    r"(amqps?://)(?:\$\{env\.\w+\}:\$\{env\.\w+\}@)?([^/@$]+)(/[^/@$]*)?(?:/\$\{env\.\w+\})?"
)
"""Scheme, server and virtual host; login and host out of the environment are left out."""
_BY_QUEUE: Final = frozenset({"exchange", "queue", "match"})
_OPTION_CHARS_MAX: Final = 255
_ROOTS: Final = ("job", "product")
_COMMON: Final = (
    "kind", "message", "each", "products", "events", "schema", "checks", "order", "retry",
    "given_up", "rejected",
)  # fmt: skip
_MANY: Final = ("each", "products", "events")
"""What a sink has messages of, if not of jobs; one at most."""
_TRIES: Final = 20
_TIMEOUT: Final = "30s"
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,62}")
_CODES: Final = re.compile(r"(\d{1,3})(?:-(\d{1,3}))?")
_FINAL: Final[Mapping[str, str]] = {HTTP: "400-499", "command": "65", SQL: "22-23"}
"""What rejects a message if nothing else is said; of programs EX_DATAERR, of databases classes of
SQLSTATE: values that do not fit, and constraints.
"""


def parse_sink(document: object, say: Say) -> Sink | None:
    """Check one sink; return `None` if something was said about it."""
    said: list[str] = []

    def wrong(field: str, what: str) -> None:
        said.append(what)
        say((field,) if field else (), what)

    if not isinstance(document, Mapping):
        wrong("", "it should be a table")
        return None
    document = _broker_first(kind_first(document))
    kind = document.get("kind")
    if kind is None:
        wrong("kind", f"a sink needs it: one of {', '.join(_OWN)}")
        return None
    if not isinstance(kind, str) or kind not in _OWN:
        wrong("kind", f"there is no kind of sink {str(kind)[:40]!r}; there are "
              f'{", ".join(_OWN)}, and a program of kind = "command" sends anywhere')  # fmt: skip
        return None
    reader = _Reader(document, wrong)
    known = (*_COMMON, *_OWN[kind])
    for name in document:
        if name not in known:
            wrong(str(name), _not_known(str(name), kind, known))
        elif name not in _WITH_SECRETS.get(kind, ()) and "${secret." in str(document[name]):
            wrong(name, "a secret may stand in `url` and `headers` of the kind http, and in `url` "
                  "of the kind sql, only")  # fmt: skip
    command = reader.command("command", document.get("command")) if kind == "command" else ()
    each = reader.each()
    products, events = reader.flag("products"), reader.flag("events")
    options = {} if kind in {HTTP, "command"} else reader.options(_OWN[kind])
    url = _address_of(kind, reader, options, command)
    is_given = "message" in document or ("each" not in document and not products)
    message = reader.text("message", MESSAGE_CHARS_MAX) if is_given else PRODUCT
    if message is None:
        wrong("message", f"it should be a template of 1 to {MESSAGE_CHARS_MAX} characters")
    elif mistake := _mistake_of(message):
        wrong("message", f"it is no template: {mistake}")
    order = reader.text("order", 64)
    if order is None and "order" in document:
        wrong("order", "it should be the name of an attribute of jobs")
    timeout_s = reader.timeout_s() if kind == "command" else 0.0
    retry = reader.tries("retry", ("policy",), _TRIES)
    given_up = reader.tries("given_up", (), 0)
    rejected = reader.tries("rejected", ("codes",), 1)
    codes = reader.codes(_FINAL.get(kind))
    schema, checks = reader.schema(), reader.checks()
    headers = reader.headers() if kind == HTTP else {}
    if said or message is None:
        return None
    ends = given_up.path or retry.path[:1]
    return Sink(
        url, message, order, retry.tries, retry.path, ends, codes, rejected.tries,
        rejected.path or ends, command, timeout_s, each, products, schema,
        kind, options, checks, headers, events,
    )  # fmt: skip


def _broker_first(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table that names its broker as `transport`, by address, also if it says `url`, with
    a login out of the environment: who has that is an entry of transports_file.
    """
    if document.get("kind") != "amqp" or "transport" in document:
        return document
    match = _BROKER.fullmatch(str(document.get("url")))
    if match is None:
        return document
    return {
        "transport": "".join(group or "" for group in match.groups()),
        **{name: one for name, one in document.items() if name != "url"},
    }


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
    from jinja2 import Environment, TemplateSyntaxError  # noqa: PLC0415 (20 ms)

    try:
        Environment(autoescape=False).parse(template)  # noqa: S701 (JSON)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    except (ValueError, RecursionError):
        return "a number is too long, or it is nested too deeply"
    return None


class _Reader:
    """Reads the fields of one sink, and says what is wrong."""

    def __init__(self, document: Mapping[str, Any], wrong: Callable[[str, str], None]) -> None:
        self._document = document
        self._wrong = wrong

    def text(self, field: str, longest: int) -> str | None:
        """Return a text, `None` if it is none."""
        given = self._document.get(field)
        return given if isinstance(given, str) and 0 < len(given) <= longest else None

    def url(self) -> str:
        """Return the address."""
        given = str(self._document.get("url", ""))
        if self._document["kind"] == HTTP and (what := wrong_url(given)):
            self._wrong("url", what)
        return given

    def database(self) -> str:
        """Return the address of a database."""
        given = str(self._document.get("url", ""))
        if what := wrong_database_url(given):
            self._wrong("url", what)
        return given

    def statement(self) -> Mapping[str, str]:
        """Return the statement that is run for each message; any name may be one of its fields."""
        given = self._document.get("statement")
        if what := wrong_statement(given, bool, "a name is a field of the message"):
            self._wrong("statement", what)
        return {"statement": str(given)}

    def headers(self) -> Mapping[str, str]:
        """Return the headers of requests."""
        given: Mapping[str, str] = self._document.get("headers", {})
        if what := wrong_headers(given):
            self._wrong("headers", what)
            return {}
        return given

    def checks(self) -> Mapping[str, tuple[str, ...]]:
        """Return programs by the names of checks."""
        given = self._document.get("checks", {})
        if not isinstance(given, Mapping) or len(given) > WORDS_MAX:
            self._wrong("checks", f"it should be a table of at most {WORDS_MAX} programs")
            return {}
        return {name: self.command("checks", one) for name, one in given.items()}

    def command(self, field: str, given: object) -> tuple[str, ...]:
        """Return the name of a program and its arguments."""
        words = [given] if isinstance(given, str) else given
        if (
            not isinstance(words, list)
            or not 1 <= len(words) <= WORDS_MAX
            or not all(isinstance(word, str) and len(word) <= MESSAGE_CHARS_MAX for word in words)
            or not _WORD.fullmatch(words[0])
            or any("\0" in word for word in words)
        ):
            self._wrong(
                field,
                "it should be the name of a program of the setting sink_commands, or a list of "
                "that and its arguments",
            )
            return ()
        return tuple(words)

    def options(self, names: tuple[str, ...]) -> Mapping[str, str]:
        """Return where messages go."""
        if "statement" in names:
            return self.statement()
        found = {}
        usual = {**_USUAL}
        if "store" in names:
            of = {"each": "${job.file}", **dict.fromkeys(_MANY[1:], "${job.file}.json")}
            name = next((of[one] for one in of if self._document.get(one)), "message.json")
            usual["key"] = f"work/jobs/${{job.id}}/{name}"
        for name in names:
            given = self._document.get(name, usual.get(name))
            if name == "exchange" and isinstance(given, Mapping):
                given = self._exchange(given)
            if name == "transport" and "url" in self._document:
                continue  # it was said what to write instead
            longest = MESSAGE_CHARS_MAX if "$" in str(given) else _OPTION_CHARS_MAX
            is_text = isinstance(given, str) and len(given) <= longest and given.isprintable()
            may_be_filled = name in usual
            if not isinstance(given, str) or not is_text or not (given or usual.get(name) == ""):
                self._wrong(name, f"it should be a text of 1 to {_OPTION_CHARS_MAX} characters")
            elif "${" in given and not may_be_filled:
                self._wrong(name, "nothing is filled into it")
            elif what := wrong_text(given, roots=_ROOTS) or _wrong_key(name, given, names):
                self._wrong(name, what)
            found[name] = str(given)
        return found

    def _exchange(self, given: Mapping[str, Any]) -> object:
        """Return the name of an exchange that is written as a table; who declares it is not weft,
        so the rest is for readers.
        """
        if unknown := given.keys() - _EXCHANGE:
            self._wrong("exchange", f"it has no {min(unknown)}, but {', '.join(_EXCHANGE)}")
        return given.get("name")

    def each(self) -> str | None:
        """Return the pattern of files."""
        given = self.text("each", EACH_CHARS_MAX)
        if given == "products":
            given = "products/*.json"
        if "each" in self._document and given is None:
            self._wrong("each", 'it should be a pattern of files such as "products/*.json"')
        elif given is not None:
            try:
                parts_of(given.removesuffix("/"))
            except WrongPath as error:
                self._wrong("each", str(error))
        return given

    def flag(self, field: str) -> bool:
        """Return whether these are the messages: products or events."""
        given: object = self._document.get(field, False)
        if not isinstance(given, bool):
            self._wrong(field, "it should be true or false")
            return False
        first = next((one for one in _MANY if self._document.get(one)), field)
        if given and first != field:
            self._wrong(field, f"messages are {field}, or those of `{first}`; leave one out")
        return given

    def schema(self) -> Mapping[str, Any] | None:
        """Return the schema; it may be a table, or JSON."""
        given = self._document.get("schema")
        if given is None:
            return None
        try:
            found = read_json(given) if isinstance(given, str) else given
            if isinstance(found, Mapping) and len(json.dumps(found)) <= SCHEMA_CHARS_MAX:
                validator_of(found)
                return found
        except (TypeError, ValueError) as error:
            self._wrong("schema", str(error).partition("\n")[0][:200])
            return None
        most = SCHEMA_CHARS_MAX
        self._wrong("schema", f"it should be a JSON Schema of at most {most} characters")
        return None

    def timeout_s(self) -> float:
        """Return how long the program may take."""
        duration = duration_of(self._document.get("timeout", _TIMEOUT))
        if duration is None or not 0 < duration.total_seconds() <= TIMEOUT_MAX_S:
            self._wrong("timeout", f'it should be a time from "1s" to "{TIMEOUT_MAX_S}s"')
            return 0.0
        return duration.total_seconds()

    def tries(self, field: str, others: tuple[str, ...], tries: int) -> _Tries:
        """Return the tries and the path of statuses of a table; `tries` 0: it has none."""
        given = self._document.get(field, {})
        known = (*(("tries",) if tries else ()), "path", *others)
        if isinstance(given, Mapping) and field == "rejected" and _BY_QUEUE & given.keys():
            self._wrong(field, "weft hears no rejections from a queue; let a source of kind amqp "
                        "read it, and leave exchange, queue and match out")  # fmt: skip
            return _Tries(tries)
        if not isinstance(given, Mapping) or not all(one in known for one in given):
            self._wrong(field, f"it should be a table of {', '.join(known)}")
            return _Tries(tries)
        if given.get("policy", "exponential") != "exponential":
            self._wrong(field, 'its policy should be "exponential"')
        number = given.get("tries", tries)
        is_number = isinstance(number, int) and not isinstance(number, bool)
        if tries and not (is_number and 1 <= number <= TRIES_MAX):
            self._wrong(field, f"its tries should be a number from 1 to {TRIES_MAX}")
        path = given.get("path", [])
        if not isinstance(path, list) or len(path) > PATH_MAX or not are_words(path):
            self._wrong(field, f"its path should be a list of at most {PATH_MAX} statuses")
            return _Tries(tries)
        return _Tries(number, tuple(path))

    def codes(self, usual: str | None) -> tuple[tuple[int, int], ...]:
        """Return what rejects a message; nothing does if the sink says nothing of it. `usual`
        None: such a sink has no codes.
        """
        table = self._document.get("rejected")
        if not isinstance(table, Mapping):
            return ()
        if usual is None:
            if "codes" in table:
                self._wrong("rejected", "a sink of this kind has no codes")
            return ()
        given = table.get("codes", usual)
        found = []
        for one in given if isinstance(given, list) else [given]:
            match = None if isinstance(one, bool) else _CODES.fullmatch(str(one))
            first = int(match[1]) if match else 0
            last = int(match[2]) if match and match[2] else first
            if not 1 <= first <= last:
                self._wrong("rejected", 'its codes should be numbers or ranges such as "400-499"')
                return ()
            found.append((first, last))
        return tuple(found)


def _address_of(
    kind: str, reader: _Reader, options: Mapping[str, Any], command: Sequence[str]
) -> str:
    """Return where the messages go, which tells deliveries of one sink from others."""
    if kind == SQL:
        return reader.database()
    if options:
        return f"{kind}:{options.get(_OWN[kind][0])}"
    return f"{COMMAND}{command[0]}" if command else reader.url()


def _wrong_key(name: str, given: str, names: tuple[str, ...]) -> str:
    if name != "key" or "store" not in names:
        return ""
    try:
        parts_of(FIELD.sub("x", given))
    except WrongPath as error:
        return str(error)
    return ""
