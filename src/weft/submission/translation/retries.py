"""The field `retry` of jobs: how long they wait before another attempt."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from weft.core.ends.end_rules import (
    RULES_MAX,
    EndRules,
    overlapping,
    parse_codes,
    parse_end_signal,
    parse_meaning,
)
from weft.core.ends.retry_policy import POLICIES, completed, mistakes
from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.states import Reason
from weft.core.text.number_ranges import as_written
from weft.core.text.texts import nearest
from weft.ports.policy import POLICY_PLUGINS
from weft.settings import Settings
from weft.submission.translation.services import AGAIN
from weft.wire.documents.batches import JobDocument
from weft.wire.documents.retries import RetryDocument

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
