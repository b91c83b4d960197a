"""The fields of jobs about other attempts: `retry`, how long they wait before one; `retry_with`,
what it asks for beyond the one before it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from weft.core.billing.resources import parse_cpu_m, parse_mebibytes, parse_memory_mib
from weft.core.ends.end_rules import (
    RULES_MAX,
    EndRules,
    overlapping,
    parse_codes,
    parse_end_signal,
    parse_meaning,
)
from weft.core.ends.retry_policy import POLICIES, completed, mistakes
from weft.core.ends.retry_with import (
    REQUESTS_MAX,
    SIZES,
    MoreRule,
    combinations,
    ladder,
    parse_factor,
)
from weft.core.ends.retry_with import RULES_MAX as MORE_MAX
from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.scheduling.offers import MACHINE, PREEMPTIBLE
from weft.core.scheduling.time_limits import ASK as TIME_LIMIT
from weft.core.scheduling.time_limits import limit_class
from weft.core.states import Reason
from weft.core.text.durations import parse_milliseconds
from weft.core.text.number_ranges import as_written
from weft.core.text.texts import nearest
from weft.ports.policy import POLICY_PLUGINS
from weft.ports.store import Shape
from weft.settings import Settings
from weft.submission.translation.kinds import AGAIN
from weft.submission.translation.shapes import ShapeBook, changed
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.retries import RetryDocument, RetryWithDocument

Where = tuple[str | int, ...]


def policy_mistakes(given: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Yield what is wrong with a policy, built in or not: where, and what."""
    if given["policy"] in POLICIES:
        if given.get("parameters"):
            yield ("parameters",), f"have no meaning for the policy {given['policy']}"
        yield from mistakes(given)
        return
    for name, value in given.items():
        if value is not None and name not in {"policy", "parameters"}:
            yield (name,), f"has no meaning for the policy {given['policy'][:40]}: use parameters"
    _, wrong = _asked(given["policy"], _key(given))
    if wrong is not None:
        yield wrong


def whole_policy(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy without mistakes in built-in terms, with its defaults."""
    if given["policy"] in POLICIES:
        return completed(given)
    found, _ = _asked(given["policy"], _key(given))
    return {**found}


def _key(given: Mapping[str, Any]) -> tuple[tuple[str, int | float | str], ...]:
    return tuple(sorted((given.get("parameters") or {}).items()))


@lru_cache(maxsize=256)  # all jobs of an array, and most of a batch, say the same
def _asked(
    name: str, parameters: tuple[tuple[str, int | float | str], ...]
) -> tuple[Mapping[str, Any], tuple[Where, str] | None]:
    """Return what a policy answers, or what is wrong."""
    if name not in _names():
        known = [*POLICIES, *_names()]
        like = nearest(name, known)
        hint = f"; did you mean {like}?" if like else ""
        return {}, (("policy",), f"{name[:40]!r} is not one of {', '.join(known)}{hint}")
    given = dict(parameters)
    try:
        policy = POLICY_PLUGINS.load(name)()
        for one in given:
            if one not in (*policy.parameters, *policy.optional):
                return {}, (("parameters", one), f"is no parameter of the policy {name}")
        for one in policy.parameters:
            if one not in given:
                return {}, (("parameters",), f"the policy {name} needs the parameter {one!r}")
        found = dict(policy.built_in(given))
        if found.get("policy") not in POLICIES:
            return {}, (("policy",), f"{name} does not answer with a built-in policy")
        for where, message in mistakes(found):
            at = ".".join(map(str, where))
            return {}, (("policy",), f"{name} answers with a wrong policy: {at} {message}")
        return completed(found), None
    except ValueError as error:
        return {}, (("parameters",), str(error)[:300])
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
        return {}, (("policy",), f"{name} failed: {type(error).__name__}")


@cache
def _names() -> tuple[str, ...]:
    return tuple(name for name in POLICY_PLUGINS.names() if name not in POLICIES)


CURABLE: Final = (
    Reason.EXIT,
    Reason.SIGNAL,
    Reason.TIMEOUT,
    Reason.OOM,
    Reason.DISK,
    Reason.SYSTEM,
)
"""Failures that another attempt may cure. Lost and preempted attempts are repeated anyway, with a
limit of their own, unless `retry_on` names `lost`: then they count as tries.
"""
DEFAULT_RETRY: Final = sum(1 << reason for reason in CURABLE)
RETRY_WAITS: Final = 1
"""The bit of `retry_on` that says that its retries wait as `retry` says; no reason has it."""
BLOCKED_CODE: Final = 75
HAS_RULES: Final = 1 << 20
"""The bit of `retry_on` that says that its rules (`EndRules`) decide, too; no reason has it."""
ASKS_MORE: Final = 1 << 21
"""The bit of `retry_on` that says that its retries ask for more; no reason has it."""
_BITS: Final = {
    reason.word: 1 << reason
    for reason in Reason
    if reason
    not in {Reason.PREEMPTED, Reason.CANCELLED, Reason.DEADLINE, Reason.BLOCKED, Reason.OVERDUE}
}
REASONS: Final = frozenset(_BITS)
"""The words of `retry_on` that are no rules."""


def check_retry(job: JobDocument, _: Settings, problems: Problems, at: str) -> None:
    """Note what is wrong with the policy of a job."""
    assert job.retry is not None
    for where, message in policy_mistakes(_given(job.retry)):
        problems.add(InvalidValue, at + pointer_of("retry", *where), message)


def check_retried(jobs: Sequence[JobDocument], problems: Problems) -> None:
    """Note policies of jobs that are never tried again, unless a lifecycle's exit codes say so."""
    for index, job in enumerate(jobs):
        if job.retry is not None and job.max_attempts == 1 and not job.external_errors:
            message = (
                "has no effect on a job that is not tried again (max_attempts, --retries); for "
                "exit code 75 alone name it in external_errors"
            )
            problems.add(InvalidValue, f"/jobs/{index}/retry", message)


def rules_of(job: JobDocument) -> EndRules | None:
    """Return the rules of a job without mistakes; None: its reasons decide."""
    return _read_rules(job, lambda _where, _message: None)


def mask_of(job: JobDocument, note: Callable[[str, str], None]) -> int:
    """Return the reasons after which a job is tried again, and whether its rules decide, as bits;
    note what is wrong with a pointer within the job.
    """
    if job.service is not None:
        return AGAIN | HAS_RULES | RETRY_WAITS
    mask = DEFAULT_RETRY if job.retry_on is None else 0
    for n, word in enumerate(job.retry_on or ()):
        kind, colon, _ = word.partition(":")
        known = kind in {"exit", "signal"} if colon else word in _BITS
        if not known:
            shown = ", ".join([*_BITS, "exit:3", "exit:10-20", "signal:USR1"])
            note(f"/retry_on/{n}", f"{word[:40]!r} is not one of {shown}")
        mask |= _BITS.get(kind, 0)
    if _read_rules(job, note) is not None:
        mask |= HAS_RULES
    if job.retry_with:
        mask |= ASKS_MORE
    return mask if job.retry is None else mask | RETRY_WAITS


def _read_rules(job: JobDocument, note: Callable[[str, str], None]) -> EndRules | None:
    words, external = job.retry_on or (), job.external_errors or ()
    rules = EndRules()
    for n, word in enumerate(words):
        kind, colon, rest = word.partition(":")
        if not colon:
            continue
        try:
            if kind == "exit":
                rules.exits.append(parse_codes(rest))
            elif kind == "signal":
                rules.signals.append(parse_end_signal(rest))
        except ValueError as error:
            note(f"/retry_on/{n}", str(error))
    for n, given in enumerate(external):
        try:
            rules.external.append(parse_codes(given))
        except ValueError as error:
            note(f"/external_errors/{n}", str(error))
    _read_meanings(job, rules, note)
    # The reason alone takes all of its kind.
    if "exit" in words:
        rules.exits = []
    if "signal" in words:
        rules.signals = []
    return rules if rules != EndRules() else None


def _read_meanings(job: JobDocument, rules: EndRules, note: Callable[[str, str], None]) -> None:
    meanings = job.exit_codes or {}
    if len(meanings) > RULES_MAX:
        note("/exit_codes", f"{len(meanings)} rules, at most {RULES_MAX} are allowed")
        return
    for given, meaning in meanings.items():
        at = pointer_of("exit_codes", given)
        try:
            codes = parse_codes(given)
            rules.successes.append((*codes, parse_meaning(meaning)))
        except ValueError as error:
            note(at, str(error))
            continue
        others = [*rules.external, *rules.exits, (BLOCKED_CODE, BLOCKED_CODE)]
        if any(overlapping([codes, other]) for other in others):
            note(at, "retry_on, external_errors, or 75 for all jobs, say something else of a code")
    if twice := overlapping([(first, last) for first, last, _ in rules.successes]):
        note("/exit_codes", f"two rules are about exit code {twice[0]}")


def stored_policy(document: RetryDocument) -> dict[str, Any]:
    """Return a policy with its defaults, as the database stores it."""
    policy: dict[str, Any] = as_written(whole_policy(_given(document)))
    return policy


def _given(document: RetryDocument) -> Mapping[str, Any]:
    given: Mapping[str, Any] = msgspec.to_builtins(document)
    return given


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
    "cpu": parse_cpu_m,
    "memory": parse_memory_mib,
    "storage": parse_mebibytes,
    "timeout": _parse_limit_ms,
}
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
            job.retry_with,
            shape,
            job.retry_on,
            job.max_attempts,
            job.preemptible,
            job.timeout_s,
        )
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
    if len(documents) > MORE_MAX:
        problems.add(InvalidValue, "", f"{len(documents)} rules, at most {MORE_MAX} are allowed")
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
    rule: MoreRule,
    document: RetryWithDocument,
    field: str,
    job: JobDocument,
    shape: Shape,
    book: ShapeBook,
    note: Note,
) -> None:
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
