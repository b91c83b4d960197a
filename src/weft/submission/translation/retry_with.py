"""The field `retry_with` of jobs: what another attempt asks for beyond the one before it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib
from weft.core.ends.end_rules import parse_codes, parse_end_signal
from weft.core.ends.retry_with import (
    REQUESTS_MAX,
    RULES_MAX,
    SIZES,
    MoreRule,
    combinations,
    ladder,
    parse_factor,
)
from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.scheduling.offers import MACHINE, PREEMPTIBLE
from weft.core.scheduling.time_limits import ASK as TIME_LIMIT
from weft.core.scheduling.time_limits import limit_class
from weft.core.states import Reason
from weft.core.text.durations import parse_milliseconds
from weft.ports.store import Shape
from weft.submission.translation.retries import mask_of
from weft.submission.translation.shapes import ShapeBook, changed
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.retries import RetryWithDocument

_AGAIN: Final = (Reason.LOST, Reason.PREEMPTED)
"""After these a job is tried again whatever it says."""
_REASONS: Final = {
    reason.word: reason
    for reason in Reason
    if reason not in {Reason.CANCELLED, Reason.DEADLINE, Reason.BLOCKED}
}
_AFTER_MAX: Final = 100
_LIMIT_MS_MAX: Final = 31_536_000_000
"""A year, as of `timeout_s`."""


def _parse_limit_ms(value: float | str) -> int:
    if (limit := parse_milliseconds(value)) > _LIMIT_MS_MAX:
        raise ValueError(f"{value!r} is longer than a year")
    return limit


_READERS: Final[dict[str, Callable[[Any], int]]] = {
    "cpu": parse_cpu_m, "memory": parse_memory_mib, "storage": parse_mebibytes,
    "timeout": _parse_limit_ms,
}  # fmt: skip
_FIELDS: Final = (*SIZES, "timeout", "preemptible", "machine")

Note = Callable[[str, str], None]
"""Takes a pointer within `retry_with` and what is wrong there."""


def rules_of_more(
    jobs: Sequence[JobDocument], book: ShapeBook, shape_index: Sequence[int], problems: Problems
) -> Sequence[Sequence[MoreRule]]:
    """Return the rules of each job, and add to the book what they may ask for; nothing if no job
    has any. Note what is wrong.
    """
    if not any(job.retry_with for job in jobs):
        return ()
    known: dict[tuple[object, ...], list[MoreRule]] = {}
    found: list[Sequence[MoreRule]] = []
    for index, job in enumerate(jobs):
        if not job.retry_with:
            found.append(())
            continue
        shape = book.shapes[shape_index[index if len(shape_index) > 1 else 0]]
        key = (
            job.retry_with, shape, job.retry_on, job.max_attempts, job.preemptible, job.timeout_s,
        )  # fmt: skip
        if key not in known:
            wrong = Problems()
            rules = _rules(job, shape, book, wrong)
            for kind, error in wrong.found:
                at = pointer_of("jobs", index, "retry_with") + error.pointer
                problems.add(kind, at, error.message)
            if not wrong.found:
                known[key] = rules
                for combination in combinations(rules):
                    book.add(changed(shape, combination))
        found.append(known.get(key, ()))
    return found


def _rules(job: JobDocument, shape: Shape, book: ShapeBook, problems: Problems) -> list[MoreRule]:
    documents = job.retry_with or ()
    if len(documents) > RULES_MAX:
        problems.add(InvalidValue, "", f"{len(documents)} rules, at most {RULES_MAX} are allowed")
        return []
    mask = mask_of(job, lambda _where, _message: None)
    rules, fields = [], []
    for n, document in enumerate(documents):
        at = pointer_of(n)

        def note(where: str, message: str, at: str = at) -> None:
            problems.add(InvalidValue, at + where, message)

        own = [name for name in _FIELDS if getattr(document, name) is not None]
        if len(own) != 1:
            note("", f"names {len(own)} of {', '.join(_FIELDS)}; a rule names one")
            continue
        if own[0] in fields:
            note(pointer_of(own[0]), f"another rule asks for more {own[0]} already")
        fields += own
        rule = MoreRule(after=document.after, values=[])
        if not 1 <= document.after <= _AFTER_MAX:
            note("/after", f"must be from 1 to {_AFTER_MAX}")
        for where, message in _fill_ends(rule, document, job, mask):
            note(where, message)
        _fill_values(rule, document, own[0], job, shape, book, note)
        rules.append(rule)
    n_asks = 1
    for rule in rules:
        n_asks *= len(rule.values)
    if n_asks > REQUESTS_MAX:
        message = f"asks for {n_asks} different things in the end, at most {REQUESTS_MAX} may be"
        problems.add(InvalidValue, "", message)
    return rules


def _fill_ends(
    rule: MoreRule, document: RetryWithDocument, job: JobDocument, mask: int
) -> Iterator[tuple[str, str]]:
    """Fill in after which ends the rule applies; yield what is wrong."""
    if not document.on:
        yield "/on", "names no end; oom, for example"
    for n, word in enumerate(document.on):
        at = pointer_of("on", n)
        kind, colon, rest = word.partition(":")
        reason = _REASONS.get(kind)
        if reason is None or (colon and reason not in {Reason.EXIT, Reason.SIGNAL}):
            shown = ", ".join([*_REASONS, "exit:3", "exit:10-20", "signal:KILL"])
            yield at, f"{word[:40]!r} is not one of {shown}"
            continue
        if reason not in _AGAIN and not mask >> reason & 1:
            yield at, f"a job is not tried again after {kind} unless retry_on names it"
        if reason not in _AGAIN and job.max_attempts == 1:
            yield at, "has no effect on a job that is not tried again (max_attempts, --retries)"
        try:
            if not colon:
                rule.reasons.append(int(reason))
            elif reason is Reason.EXIT:
                rule.exits.append(parse_codes(rest))
            else:
                rule.signals.append(parse_end_signal(rest))
        except ValueError as error:
            yield at, str(error)


def _fill_values(
    rule: MoreRule, document: RetryWithDocument, field: str, job: JobDocument, shape: Shape,
    book: ShapeBook, note: Note,
) -> None:  # fmt: skip
    if field in _READERS:
        try:
            if field == "timeout":
                rule.word, rule.limits_ms = TIME_LIMIT, _limits_ms(document, job)
                rule.values += [limit_class(limit / 1000) for limit in rule.limits_ms]
            else:
                rule.size = SIZES[field]
                rule.values += _sizes(document, field, getattr(shape, rule.size))
        except (_WrongField, ValueError, OverflowError) as error:
            where = error.field if isinstance(error, _WrongField) else field
            note(pointer_of(where), str(error)[:200])
        return
    if document.up_to is not None:
        note("/up_to", f"has no meaning for {field}")
    if field == "preemptible":
        rule.word = PREEMPTIBLE
        rule.values += ["yes", None]
        if document.preemptible:
            note("/preemptible", "only false is more than before")
        elif not job.preemptible:
            note("/preemptible", "the job is not preemptible anyway")
        return
    rule.word = MACHINE
    rule.values += [job.machine, document.machine]
    machines = book.machines_for(shape)
    if document.machine not in machines:
        known = ", ".join(machines) or "none"
        note("/machine", f"its pool makes no machines {document.machine!r}; known: {known}"[:200])


class _WrongField(ValueError):
    """Something is wrong with another field than the one that names the size."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _limits_ms(document: RetryWithDocument, job: JobDocument) -> list[int]:
    """Return the time limits that a job has one after the other. Raise `ValueError`."""
    if job.timeout_s is None:
        raise ValueError("the job has no time limit (timeout_s, --timeout)")
    return _sizes(document, "timeout", parse_milliseconds(job.timeout_s))


def _sizes(document: RetryWithDocument, field: str, first: int) -> list[int]:
    """Return the values that a size takes. Raise `ValueError`."""
    read, asked = _READERS[field], getattr(document, field)
    factor = parse_factor(asked)
    if factor is None:
        if document.up_to is not None:
            raise _WrongField("up_to", f"belongs to a factor, such as {field}: x2")
        if (last := read(asked)) <= first:
            raise ValueError("is not more than what the job asks for at first")
        return [first, last]
    if document.up_to is None:
        raise _WrongField("up_to", "is missing: a factor needs a limit")
    try:
        last = read(document.up_to)
    except (ValueError, OverflowError) as error:
        raise _WrongField("up_to", str(error)) from None
    if last <= first:
        raise _WrongField("up_to", "is not more than what the job asks for at first")
    if not first:
        raise ValueError("the job asks for none, and a multiple of that is none")
    return ladder(first, factor, last)
