"""The configuration of jobs in a setup, `[configure.NAME]`: CEL over the fields of an item.

Each expression is read and bounded before anything is evaluated, as guards of queues are, because
an evaluation cannot be interrupted: one loop at most, and an item with long lists is refused where
there is one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from weft.core.lines.lifecycle import Say
from weft.core.lines.series import KEY_CHARS_MAX, Standing, check_series, order_of
from weft.core.queues.attributes import Path
from weft.core.queues.guard import Reader, Token, WrongGuard, program_of
from weft.core.queues.guard_words import failure_of
from weft.core.text.durations import duration_of
from weft.core.text.filling import CannotFill, at
from weft.ports.lookup import Answered, Question
from weft_lines.rules.lookup import WAITING, check_lets, names_of, question_of

if TYPE_CHECKING:
    import cel

ITEM: Final = "item"
PARAM: Final = "param"
SERIES: Final = "series"
NOW: Final = "now"
LET: Final = "let"
ANSWER: Final = "answer"
_PRODUCTS: Final = "series.previous.products"
ELEMENTS_MAX: Final = 1000
"""Of a list or map of an item, where an expression has a loop."""
EXPRESSIONS_MAX: Final = 50
_ONE: Final = ("cancel_if", "wait_until", "priority", "queue")
_MANY: Final = ("env", "attributes", "resources")
_RESOURCES: Final = frozenset({"cpu", "memory", "storage", "gpu"})
_ROOTS: Final = (ITEM, PARAM, SERIES, NOW)
_STEERING: Final = (LET, "env", "attributes")
_EARLY: Final = ("cancel_if", "wait_until")
_OF_ANSWER: Final = frozenset({ANSWER})
_RESERVED: Final = frozenset(
    {
        *_ROOTS,
        ANSWER,
        LET,
        *Reader.functions,
        "duration",
        "timestamp",
        "true",
        "false",
        "null",
        "in",
        "has",
    }
)
WORDS_MAX: Final = 20
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?")


class CannotConfigure(ValueError):
    """An item has no job by these rules; the text says which, and why."""


class MustWait(Exception):
    """An item has no job yet; the text says what is missing."""


class IsCancelled(Exception):
    """An item gets no job; the text says why."""


class MustAsk(Exception):
    """What expressions read must be asked first."""

    def __init__(self, questions: Mapping[str, Question]) -> None:
        super().__init__(", ".join(questions))
        self.questions = questions


@dataclass(frozen=True)
class Configured:
    """What the expressions say of one item."""

    cancelled: bool
    fields: Mapping[str, Any]
    """Of its job: `priority`, `queue`, `env`, `attributes`, `resources`."""
    parameters: frozenset[str] = frozenset()
    """The names of those that were read."""


class _ItemReader(Reader):
    """Reads expressions about items, whose fields nobody knows before."""

    functions = Reader.functions | {"duration", "timestamp"}
    loops_max = 1
    loops_of_matches = 0  # the lists of an item are long
    has_loops = False
    lets: frozenset[str] = frozenset()

    def _loop(self, n: int, depth: int) -> None:
        self.has_loops = True
        super()._loop(n, depth)

    def path(self, parts: Path, token: Token) -> Path:
        if parts[0] not in _ROOTS and parts[0] not in self.lets:
            known = ", ".join((*_ROOTS, *sorted(self.lets)))
            raise self.wrong(token, f"there is no {parts[0]}; known: {known}")
        if parts[0] == PARAM and len(parts) == 1:
            raise self.wrong(token, "name a parameter, as in param.search_first")
        return parts


def parse_configuration(document: Mapping[str, Any], wrong: Say) -> Mapping[str, Any]:
    """Check the table of one configuration; it counts if nothing was said about it."""
    lets = check_lets(document[LET], wrong, _RESERVED) if LET in document else frozenset()
    for field, given in document.items():
        if field == LET:
            for name in lets:
                if "value" in given[name]:
                    _check(given[name]["value"], (field, name, "value"), wrong, _OF_ANSWER)
        elif field in _ONE:
            _check(given, (field,), wrong, lets)
        elif field in _MANY and isinstance(given, Mapping):
            for name, text in given.items():
                if field == "resources" and name not in _RESOURCES:
                    wrong((field, name), f"it is not one of {', '.join(sorted(_RESOURCES))}")
                _check(text, (field, name), wrong, lets)
        elif field in _MANY:
            wrong((field,), "it should be a table")
        elif field == SERIES:
            check_series(given, wrong, partial(_check, own=True))
        elif field == "priorities":
            if not are_ranked(given):
                wrong((field,), f"it should be a list of 1 to {WORDS_MAX} words")
        else:
            known = ", ".join((*_ONE, "priorities", SERIES, LET, *_MANY))
            wrong((field,), f"a configuration has no such field; it has {known}")
    if sum(1 for _ in expressions_of(document)) > EXPRESSIONS_MAX:
        wrong((), f"it has more than {EXPRESSIONS_MAX} expressions")
    return document


def are_ranked(given: object) -> TypeGuard[list[str]]:
    """Say whether these are words in an order."""
    if not isinstance(given, list) or not 1 <= len(given) <= WORDS_MAX:
        return False
    return all(isinstance(one, str) and one for one in given)


def expressions_of(document: Mapping[str, Any]) -> list[tuple[str, str, object]]:
    """Return field, name and text of each expression; the name of single ones is empty."""
    found: list[tuple[str, str, object]] = [
        (field, "", document[field]) for field in _ONE if field in document
    ]
    for field in _MANY:
        given = document.get(field)
        if isinstance(given, Mapping):
            found += [(field, name, text) for name, text in given.items()]
    return found


def _check(
    given: object,
    where: tuple[str, ...],
    wrong: Callable[[tuple[str, ...], str], None],
    lets: frozenset[str] = frozenset(),
    *,
    own: bool = False,
) -> None:
    """Say what is wrong with an expression. `own`: it is about an item by itself."""
    if not isinstance(given, str):
        wrong(where, "it should be an expression, which is a text")
        return
    try:
        if _compiled(given, lets).series and own:
            wrong(where, "the expression reads its own series")
    except WrongGuard as error:
        wrong(where, f"the expression: {error}")


@dataclass(frozen=True)
class _Expression:
    program: "cel.Program"
    loops: bool
    parameters: frozenset[str] = frozenset()
    series: bool = False
    lets: frozenset[str] = frozenset()
    """The look-ups that it reads."""


@lru_cache(maxsize=1000)
def _compiled(text: str, lets: frozenset[str] = frozenset()) -> _Expression:
    """Return an expression, which may read these look-ups. Raise `WrongGuard`."""
    program = program_of(text)
    reader = _ItemReader(text)
    reader.lets = lets
    paths = reader.reads()
    names = frozenset(path[1] for path in paths if path[0] == PARAM)
    return _Expression(
        program,
        reader.has_loops,
        names,
        series=any(path[0] == SERIES for path in paths),
        lets=lets & {path[0] for path in paths},
    )


def parameters_of(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters that a configuration reads."""
    found: set[str] = set()
    series = document.get(SERIES, {})
    texts = [text for _, _, text in expressions_of(document)]
    lets = frozenset(document.get(LET, ()))
    for one in document.get(LET, {}).values():
        found |= names_of(one, PARAM)
        with suppress(WrongGuard):
            found |= _compiled(str(one.get("value", ANSWER)), _OF_ANSWER).parameters
    for text in (*texts, *(series[name] for name in ("key", "order") if name in series)):
        with suppress(WrongGuard):
            found |= _compiled(str(text), lets).parameters
    return found


def steering_parameters_of(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters that choose what runs as the owner of a source: what its
    environment, attributes and look-ups read.
    """
    return parameters_of({name: document[name] for name in _STEERING if name in document})


def reads_products(document: Mapping[str, Any]) -> bool:
    """Say whether expressions read the products of the job before."""
    return any(_PRODUCTS in str(text) for _, _, text in expressions_of(document))


def standing_of(
    document: Mapping[str, Any], item: Mapping[str, Any], values: Mapping[str, Any]
) -> tuple[str, Decimal]:
    """Return in which series an item is, and where. Raise `CannotConfigure`, `MustWait`."""
    given = _Given(item, values)
    rule = document[SERIES]
    key = _text(given.evaluate(str(rule["key"]), "series.key"), "series.key")
    order = order_of(given.evaluate(str(rule["order"]), "series.order"))
    if not 1 <= len(key) <= KEY_CHARS_MAX:
        raise CannotConfigure(f"series.key should have 1 to {KEY_CHARS_MAX} characters")
    if order is None:
        raise CannotConfigure("series.order is neither a date nor a number")
    return key, order


def configure(
    document: Mapping[str, Any],
    item: Mapping[str, Any],
    values: Mapping[str, Any] | None = None,
    standing: Standing | None = None,
    answers: Mapping[str, Answered] | None = None,
) -> Configured:
    """Evaluate all expressions for one item. `values`: of parameters; `answers`: of look-ups.
    Raise `CannotConfigure`, `MustWait`, `IsCancelled`, `MustAsk`.
    """
    fields: dict[str, Any] = {}
    given = _Given(item, values or {}, standing)
    given.look_up(document.get(LET, {}), answers or {})
    expressions = expressions_of(document)
    late = [str(text) for field, _, text in expressions if field not in _EARLY]
    for field, name, text in expressions:
        where = f"{field}.{name}" if name else field
        value = given.evaluate(str(text), where, () if field in _EARLY else late)
        if field in _EARLY:
            if not isinstance(value, bool):
                raise CannotConfigure(f"{where} is not true or false")
            if value and field == "cancel_if":
                return Configured(
                    cancelled=True, fields={}, parameters=frozenset(given.parameters)
                )
            if not value and field == "wait_until":
                raise MustWait("wait_until is not true yet")
        elif field == "priority":
            _set_priority(fields, value, document.get("priorities", ()))
        elif field == "queue":
            if not isinstance(value, str):
                raise CannotConfigure("queue is not a text")
            fields["queue"] = value
        elif field == "resources":
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                raise CannotConfigure(f"{where} is neither a number nor a text")
            fields.setdefault(field, {})[name] = value
        else:
            fields.setdefault(field, {})[name] = _text(value, where)
    given.wait()
    return Configured(cancelled=False, fields=fields, parameters=frozenset(given.parameters))


class _Given:
    """What expressions read for one item."""

    def __init__(
        self, item: Mapping[str, Any], values: Mapping[str, Any], standing: Standing | None = None
    ) -> None:
        self._known: dict[str, Any] = {
            ITEM: dict(item),
            PARAM: dict(values),
            SERIES: {"key": None, "previous": None},
            NOW: datetime.now(UTC),
        }
        self._waits = None
        if standing is not None:
            self._known[SERIES] = {"key": standing.series, "previous": standing.previous}
            self._waits = standing.waits
        self.parameters: set[str] = set()
        """Those that were read."""
        self._lets: Mapping[str, Mapping[str, Any]] = {}
        self._names: frozenset[str] = frozenset()
        self._answers: Mapping[str, Answered] = {}

    def look_up(
        self, lets: Mapping[str, Mapping[str, Any]], answers: Mapping[str, Answered]
    ) -> None:
        """Let expressions read the answers to look-ups."""
        self._lets, self._names, self._answers = lets, frozenset(lets), answers

    def wait(self) -> None:
        """Raise `MustWait` if the item waits for the one before it."""
        if self._waits is not None:
            raise MustWait(self._waits)

    def evaluate(self, text: str, where: str, late: Sequence[str] = ()) -> object:
        """Return the value. Raise `CannotConfigure`, `MustWait`, `IsCancelled`, `MustAsk`. `late`:
        what is evaluated as well, so that its questions are asked at once.
        """
        try:
            expression = _compiled(text, self._names)
        except WrongGuard as error:  # it was saved under rules that were less strict
            raise CannotConfigure(f"{where}: {error}") from error
        if missing := sorted(expression.parameters - self._known[PARAM].keys()):
            raise MustWait(f"{where}: there is no parameter {missing[0]} yet")
        if expression.series or expression.lets:
            self.wait()
        self.parameters |= expression.parameters
        if expression.lets:
            self._answer(expression.lets, late)
        return self._value(expression, where)

    def _value(self, expression: _Expression, where: str) -> object:
        if expression.loops and _longest(self._known) > ELEMENTS_MAX:
            raise CannotConfigure(
                f"{where}: the item has a list of more than {ELEMENTS_MAX} elements"
            )
        try:
            return expression.program.execute(self._known)
        except Exception as error:  # noqa: BLE001 (the library raises errors of many kinds)
            try:  # texts that are times may be meant as such
                return expression.program.execute(_timed(self._known))
            except Exception:  # noqa: BLE001 (likewise)
                raise CannotConfigure(f"{where}: {failure_of(error)}") from error

    def _answer(self, wanted: frozenset[str], late: Sequence[str]) -> None:
        """Make the values of look-ups known. Raise `MustAsk` if one was not asked."""
        if wanted - self._answers.keys():
            for text in late:
                with suppress(WrongGuard):
                    wanted |= _compiled(text, self._names).lets
            raise MustAsk(
                {name: self._question(name) for name in sorted(wanted - self._answers.keys())}
            )
        for name in sorted(wanted - self._known.keys()):
            self._known[name] = self._found(name, self._answers[name])

    def _question(self, name: str) -> Question:
        where = f"{LET}.{name}"

        def value_of(root: str, field: str) -> object:
            if root == PARAM:
                if field not in self._known[PARAM]:
                    raise MustWait(f"{where}: there is no parameter {field} yet")
                return self._known[PARAM][field]
            if (found := at(self._known[ITEM], field)) is None:
                raise CannotConfigure(f"{where}: the item has no {field}")
            return found

        try:
            return question_of(name, self._lets[name], value_of)
        except CannotFill as error:
            raise CannotConfigure(f"{where}: {error}") from error

    def _found(self, name: str, answered: Answered) -> object:
        """Return the value of a look-up. Raise what becomes of an item without one."""
        where = f"{LET}.{name}"
        if answered.away is not None:
            raise MustWait(f"{where} has no answer: {answered.away}")
        one = self._lets[name]
        why = "nothing is known there of the item"
        self.parameters |= names_of(one, PARAM)
        if answered.value is not None:
            value, why = self._value_in(answered.value, str(one.get("value", ANSWER)), where)
            if value is not None:
                return value
        said = f"{where}: {why}"
        missing = one.get("on_missing", WAITING)
        if missing == WAITING:
            raise MustWait(said)
        raise IsCancelled(said) if missing == "cancelled" else CannotConfigure(said)

    def _value_in(self, answer: object, text: str, where: str) -> tuple[object, str]:
        given = _Given(self._known[ITEM], self._known[PARAM])
        given._known[ANSWER] = answer
        given._names = _OF_ANSWER
        given._answers = {ANSWER: Answered(answer)}
        try:
            value = given.evaluate(text, f"{where}.value")
        except CannotConfigure as error:
            return None, f"the answer has no value: {str(error).removeprefix(f'{where}.')}"
        self.parameters |= given.parameters
        return value, "the value in the answer is null"


def _timed(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """Return a value in which texts that are dates or times are such."""
    if isinstance(value, Mapping):
        return {name: _timed(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_timed(one) for one in value]
    if not isinstance(value, str):
        return value
    if (time := duration_of(value)) is not None:
        return time
    if _DATE.fullmatch(value):
        with suppress(ValueError):
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
    return value


def _longest(value: object) -> int:
    if isinstance(value, Mapping):
        return max([len(value), *(_longest(one) for one in value.values())])
    if isinstance(value, list):
        return max([len(value), *(_longest(one) for one in value)])
    return 0


def _set_priority(fields: dict[str, Any], value: object, words: list[str]) -> None:
    if isinstance(value, str) and value in words:
        fields["priority"] = len(words) - 1 - words.index(value)
        fields.setdefault("attributes", {})["priority_name"] = value
    elif isinstance(value, int) and not isinstance(value, bool):
        fields["priority"] = value
    else:
        raise CannotConfigure("priority is neither a whole number nor one of `priorities`")


def _text(value: object, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}s"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise CannotConfigure(f"{where} is neither a text nor a number, a date or a time")
