"""Hail's two query languages, read into the tree of weft's own."""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from operator import eq, ge, gt, le, lt, ne
from types import MappingProxyType
from typing import Final

from weft.core.query import EVERYTHING, Subject, all_of, tree
from weft_hail.documents_to_hail import OWN_FAILURES, SIGNALLED
from weft_hail.requests import bad_request
from weft_hail.resources import COLLECTIONS

TERMS_MAX: Final = 64
Parser = Callable[[str | None, Subject], tree.Node]
_O = tree.Operator
_JOB_WORDS: Final = (
    "pending",
    "ready",
    "creating",
    "running",
    "live",
    "cancelled",
    "error",
    "failed",
    "bad",
    "success",
    "done",
)
_BATCH_WORDS: Final = (
    "open",
    "closed",
    "complete",
    "running",
    "cancelled",
    "failure",
    "success",
)
_WORDS: Final = MappingProxyType({Subject.JOBS: _JOB_WORDS, Subject.BATCHES: _BATCH_WORDS})
_SEARCHED: Final = (">=", "<=", ">", "<", "!~", "=~", "!=", "==", "=")
"""In this order."""
_EXACT: Final = ("=", "==", "!=")
_COMPARED: Final = (">=", ">", "<", "<=", *_EXACT)
_MATCHED: Final = (*_EXACT, "=~", "!~")
_SIGNS: Final = {_O.GE: ge, _O.GT: gt, _O.LT: lt, _O.LE: le, _O.EQ: eq, _O.NE: ne}
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}")
_FLOAT: Final = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
)
_MOST: Final = 2_147_483_647
"""More than any number of a job; a batch's may be larger."""
_MOST_BATCHES: Final = 1 << 62
_OOM: Final = tree.ReasonTerm(_O.EQ, "oom")
_OWN_FAILURE: Final = tree.Or(
    tuple(tree.ReasonTerm(_O.EQ, failure) for failure in sorted(OWN_FAILURES))
)
_STARTED: Final = tree.TimeTerm(tree.Field.START_TIME, _O.GE, datetime(1970, 1, 1, tzinfo=UTC))
_NEVER_STARTED: Final = all_of(
    (
        tree.Not(_STARTED),
        tree.TextTerm(tree.Field.INSTANCE, _O.CONTAINS, ""),
        tree.Or((tree.StateTerm(_O.EQ, "failed"), tree.StateTerm(_O.EQ, "error"))),
    )
)
"""Of jobs that could not be started; documents show their end as start, too."""


def parse_v1(text: str | None, subject: Subject) -> tree.Node:
    """Read terms between blanks. Raise `Refused`."""
    terms = _limited((text or "").split())
    return all_of(tuple(_first(term, subject) for term in terms)) if terms else EVERYTHING


def parse_v2(text: str | None, subject: Subject) -> tree.Node:
    """Read one term a line. Raise `Refused`."""
    if not text or not text.strip():
        return EVERYTHING
    terms = _limited(text.strip().split("\n"))
    return all_of(tuple(_second(term, subject) for term in terms))


def state_of(word: str, subject: Subject) -> tree.Node:
    """Return what a word for states stands for."""
    if subject is Subject.JOBS and word in {"error", "failed"}:
        # What cannot be executed, or has too little memory, failed there; here it is an error.
        is_error = tree.StateTerm(_O.EQ, "error")
        if word == "error":
            return all_of((is_error, tree.Not(_OWN_FAILURE)))
        return tree.Or((tree.StateTerm(_O.EQ, "failed"), all_of((is_error, _OWN_FAILURE))))
    if subject is Subject.BATCHES and word == "cancelled":
        return ever_cancelled()
    return tree.StateTerm(_O.EQ, word)


def _limited(terms: Sequence[str]) -> Sequence[str]:
    if len(terms) > TERMS_MAX:
        raise bad_request(f"a query has at most {TERMS_MAX} terms, this one has {len(terms)}")
    return terms


def _first(term: str, subject: Subject) -> tree.Node:
    is_negated = term.startswith("!")
    word = term[1:] if is_negated else term
    node = _first_of(word, subject)
    if node is None:
        raise bad_request(f"Invalid search term: {word}.")
    return tree.Not(node) if is_negated else node


def _first_of(word: str, subject: Subject) -> tree.Node | None:
    key, equals, value = word.partition("=")
    if equals:
        if key == "job_id" and subject is Subject.JOBS:
            return (
                tree.IntegerTerm(tree.Field.JOB_ID, _O.EQ, _whole(value))
                if _is_whole(value)
                else None
            )
        return tree.AttributeTerm(key, _O.EQ, value) if key else None
    kind, colon, name = word.partition(":")
    if colon and name:
        if kind == "has":
            return tree.AttributeTerm(name, _O.CONTAINS, "")
        if subject is Subject.BATCHES and kind in {"user", "billing_project"}:
            return tree.TextTerm(tree.Field(kind), _O.EQ, name)
        return None
    return state_of(word, subject) if word in _WORDS[subject] else None


def _is_whole(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _whole(text: str, most: int = _MOST) -> int:
    return max(-most, min(most, int(text)))


def _second(term: str, subject: Subject) -> tree.Node:
    for sign in _SEARCHED:
        if sign in term:
            padded = term.replace(sign, f" {sign} ")
            break
    else:
        padded = term
    words = padded.split()
    if len(words) == 1:
        return _label(words[0])
    if len(words) != 3:  # noqa: PLR2004 (left, operator, right)
        raise bad_request(f'could not parse term "{padded}"')
    left, sign, right = words
    read = _READERS[subject].get(left)
    if read is not None:
        return read(subject, sign, right)
    return tree.AttributeTerm(left, _operator(sign, _MATCHED), right)


def _label(word: str) -> tree.Node:
    if not word.startswith('"'):
        if word.endswith('"'):
            raise bad_request("expected the last character of the string to not be '\"'")
        return tree.AnyTerm(_O.CONTAINS, word)
    if len(word) < 3:  # noqa: PLR2004 (two quotes and what is between them)
        raise bad_request(f"expected a string of minimum length 3. Found {word}")
    if not word.endswith('"'):
        raise bad_request("expected the last character of the string to be '\"'")
    return tree.AnyTerm(_O.EQ, word[1:-1])


def _operator(sign: str, allowed: Sequence[str]) -> tree.Operator:
    if sign not in allowed:
        raise bad_request(f'unexpected operator "{sign}" expected one of {set(allowed)}')
    return tree.Operator("=" if sign == "==" else sign)


def _state(subject: Subject, sign: str, right: str) -> tree.Node:
    operator = _operator(sign, _EXACT)
    if right not in _WORDS[subject]:
        raise bad_request(f'unknown state "{right}"')
    node = state_of(right, subject)
    return node if operator is _O.EQ else tree.Not(node)


def _integer(field: tree.Field, most: int = _MOST) -> "_Reader":
    def read(_subject: Subject, sign: str, right: str) -> tree.Node:
        operator = _operator(sign, _COMPARED)
        if not _is_whole(right):
            raise bad_request(f"expected int, but found {right}")
        return tree.IntegerTerm(field, operator, _whole(right, most))

    return read


def _exit_code(_subject: Subject, sign: str, right: str) -> tree.Node:
    """Read what is said of an exit code, as documents show it: of jobs that succeeded or failed; a
    signal counts from 128 on.
    """
    if right.upper() == "NULL":
        operator = _operator(sign, _EXACT)
        found = _of_ends(
            tree.MissingTerm(tree.Field.EXIT_CODE, _O.NE),
            tree.MissingTerm(tree.Field.SIGNAL, _O.NE),
        )
        return tree.Not(found) if operator is _O.EQ else found
    operator = _operator(sign, _COMPARED)
    if not _is_whole(right):
        raise bad_request(f"expected int, but found {right}")
    code = _whole(right)
    compared = _O.EQ if operator is _O.NE else operator
    found = _of_ends(
        tree.IntegerTerm(tree.Field.EXIT_CODE, compared, code),
        tree.IntegerTerm(tree.Field.SIGNAL, compared, code - SIGNALLED),
    )
    return tree.Not(found) if operator is _O.NE else found


def _of_ends(by_code: tree.Node, by_signal: tree.Node) -> tree.Node:
    is_oom = all_of((tree.StateTerm(_O.EQ, "error"), _OOM))
    ended = tree.Or((tree.StateTerm(_O.EQ, "success"), tree.StateTerm(_O.EQ, "failed"), is_oom))
    return all_of((ended, tree.Or((by_code, by_signal))))


def _amount(sign: str, text: str, field: tree.Field) -> tree.AmountTerm:
    operator = _operator(sign, _COMPARED)
    value = float(text) if _FLOAT.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise bad_request(f"expected float, but found {text}")
    return tree.AmountTerm(field, operator, value)


def _cost(_subject: Subject, sign: str, right: str) -> tree.Node:
    return _amount(sign, right.lstrip("$"), tree.Field.COST)


def _duration(subject: Subject, sign: str, right: str) -> tree.Node:
    """Read what is said of a duration, which only what has ended has: of a job that could not be
    started it is 0.
    """
    term = _amount(sign, right, tree.Field.DURATION)
    ended = all_of((term, tree.Not(tree.StateTerm(_O.EQ, "running"))))
    zero = subject is Subject.JOBS and _SIGNS[term.operator](0.0, term.value)
    return tree.Or((ended, _NEVER_STARTED)) if zero else ended


def _time(field: tree.Field) -> "_Reader":
    def read(subject: Subject, sign: str, right: str) -> tree.Node:
        operator = _operator(sign, _COMPARED)
        wrong = bad_request(f"expected date, but found {right}")
        try:
            at = datetime.fromisoformat(right)
            in_utc = at.astimezone(UTC)
            node, of_end = (_at(one, operator, in_utc) for one in (field, tree.Field.END_TIME))
        except (ValueError, OverflowError) as error:
            raise wrong from error
        if at.tzinfo is None:
            raise wrong
        if subject is Subject.BATCHES:
            return node
        is_told = node if field is tree.Field.START_TIME else all_of((node, _STARTED))
        return tree.Or((is_told, all_of((_NEVER_STARTED, of_end))))

    return read


def _at(field: tree.Field, operator: tree.Operator, at: datetime) -> tree.Node:
    """Compare times as documents show them: cut off after the millisecond. Raise `OverflowError`
    for the last one that there is.
    """
    begin = at.replace(microsecond=at.microsecond // 1000 * 1000)
    end = begin + timedelta(milliseconds=1)
    before, since = tree.TimeTerm(field, _O.LT, begin), tree.TimeTerm(field, _O.GE, begin)
    until, after = tree.TimeTerm(field, _O.LT, end), tree.TimeTerm(field, _O.GE, end)
    found: dict[tree.Operator, tree.Node] = {
        _O.EQ: all_of((since, until)),
        _O.NE: tree.Or((before, after)),
        _O.LT: before,
        _O.LE: until,
        _O.GE: since,
        _O.GT: after,
    }
    return found[operator]


def _collection(_subject: Subject, sign: str, right: str) -> tree.Node:
    """Read what is said of an instance collection, which is worked out as in documents."""
    operator = _operator(sign, _MATCHED)
    is_part = operator in {_O.CONTAINS, _O.LACKS}
    found = {name for name in COLLECTIONS if (right in name if is_part else right == name)}
    if operator in {_O.NE, _O.LACKS}:
        found = COLLECTIONS.keys() - found
    if not found:
        return tree.Not(EVERYTHING)
    return tree.Or(tuple(_with_memory(*COLLECTIONS[name]) for name in sorted(found)))


def _with_memory(above: float, upto: float | None) -> tree.Node:
    terms = [has_memory_of_core(_O.GT, above)]
    if upto is not None:
        terms.append(has_memory_of_core(_O.LE, upto))
    return all_of(tuple(terms))


def _text(field: tree.Field, allowed: Sequence[str]) -> "_Reader":
    def read(_subject: Subject, sign: str, right: str) -> tree.Node:
        return tree.TextTerm(field, _operator(sign, allowed), right)

    return read


_Reader = Callable[[Subject, str, str], tree.Node]
_BOTH: Final = {
    "state": _state,
    "cost": _cost,
    "duration": _duration,
    "start_time": _time(tree.Field.START_TIME),
    "end_time": _time(tree.Field.END_TIME),
}
_READERS: Final = MappingProxyType(
    {
        Subject.JOBS: {
            **_BOTH,
            "job_id": _integer(tree.Field.JOB_ID),
            "exit_code": _exit_code,
            "instance": _text(tree.Field.INSTANCE, _MATCHED),
            "instance_collection": _collection,
        },
        Subject.BATCHES: {
            **_BOTH,
            "batch_id": _integer(tree.Field.BATCH_ID, _MOST_BATCHES),
            "user": _text(tree.Field.USER, _EXACT),
            "billing_project": _text(tree.Field.BILLING_PROJECT, _EXACT),
        },
    }
)


_MEMORY_OF_CORE: Final = """EXISTS (
    SELECT FROM weft.shape h
    WHERE h.shape_id = j.shape_id AND h.memory_mib {operator} ceil({{0}} * h.cpu_m / 1000)
    OFFSET 0)"""
"""Reserved memory is in whole MiB, rounded up."""
_WAS_CANCELLED: Final = """EXISTS (
    SELECT FROM weft.group_cancel g WHERE g.batch_id = b.batch_id AND g.group_id = 0)"""


def in_group(group_id: int) -> tree.Node:
    """Return that a job is in this tree group itself, not in one below it."""
    return tree.DoorTerm("j.group_id = {0}", (group_id,))


def has_memory_of_core(operator: tree.Operator, mib: float) -> tree.Node:
    """Compare the memory that a job reserves for each of its cores. `operator`: > or <=."""
    assert operator in {tree.Operator.GT, tree.Operator.LE}
    return tree.DoorTerm(_MEMORY_OF_CORE.format(operator=operator), (float(mib),))


def ever_cancelled() -> tree.Node:
    """Return that a batch was cancelled, also if all had ended before."""
    return tree.Or((tree.StateTerm(tree.Operator.EQ, "cancelled"), tree.DoorTerm(_WAS_CANCELLED)))
