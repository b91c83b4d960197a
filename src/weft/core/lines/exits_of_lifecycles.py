"""What the exit codes of a job mean in a lifecycle: `[[lifecycle.NAME.exit]]`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from weft.core.ends.end_rules import CODE_MAX, RULES_MAX, SUBTYPE_CHARS_MAX, parse_codes
from weft.core.states import JobState

TRIES_MAX: Final = 1000
TRIES_OF_BLOCKED: Final = 100
"""How often an external error is tried again whose rule names no number."""
_FIELDS: Final = ("codes", "status", "subtype", "tries", "products")

Say = Callable[[tuple[str, ...], str], None]


@dataclass(frozen=True)
class ExitRule:
    """What one range of codes means. `status` 0: a success."""

    first: int
    last: int
    status: int
    subtype: str | None
    tries: int
    """Ends of this kind after which the job is not tried again, over all phases."""
    products: bool


def parse_exits(
    given: object,
    number_of: Callable[[object], int],
    cores: Sequence[frozenset[JobState]],
    say: Say,
) -> tuple[ExitRule, ...]:
    """Read the rules. `number_of`: of a status, 0 if there is none; `cores`: by status."""
    if not isinstance(given, list) or len(given) > RULES_MAX:
        say((), f"it should be a list of at most {RULES_MAX} tables")
        return ()
    found = [_rule(one, number_of, cores, say) for one in given]
    rules = sorted((rule for rule in found if rule), key=lambda rule: rule.first)
    for one, two in pairwise(rules):
        if two.first <= one.last:
            say((), f"two rules are about exit code {two.first}")
    return tuple(rules)


def _rule(
    given: object,
    number_of: Callable[[object], int],
    cores: Sequence[frozenset[JobState]],
    say: Say,
) -> ExitRule | None:
    if not isinstance(given, Mapping):
        say((), "it should be a list of tables")
        return None
    for field in given:
        if field not in _FIELDS:
            say((field,), f"a rule has no such field; it has {', '.join(_FIELDS)}")
            return None
    codes = _codes(given.get("codes"), say)
    status = number_of(given["status"]) if "status" in given else 0
    if codes is None or ("status" in given and not status):
        if codes is not None:
            say(("status",), f"{given['status']!r} is not one of its statuses")
        return None
    tries = _tries(given, status, cores, say)
    subtype, products = given.get("subtype"), given.get("products", not status)
    if subtype is not None and not (
        isinstance(subtype, str) and 0 < len(subtype) <= SUBTYPE_CHARS_MAX
    ):
        say(("subtype",), f"it should be 1 to {SUBTYPE_CHARS_MAX} characters")
    elif not isinstance(products, bool) or (products and status):
        say(("products",), "it should be true or false; a failure has none")
    elif tries:
        return ExitRule(*codes, status, subtype, tries, products)
    return None


def _codes(given: object, say: Say) -> tuple[int, int] | None:
    if _is_zero(given):
        return 0, 0
    try:
        return parse_codes(given if isinstance(given, str | int) else "")
    except ValueError:
        say(("codes",), f"it should be an exit code, or a range such as 100-{CODE_MAX}")
        return None


def _is_zero(codes: object) -> bool:
    return codes == "0" or (codes == 0 and not isinstance(codes, bool))


def _tries(
    given: Mapping[str, object], status: int, cores: Sequence[frozenset[JobState]], say: Say
) -> int:
    """Return how often it is tried; 0: something was said."""
    core = cores[status - 1] if status else frozenset[JobState]()
    if status and _is_zero(given.get("codes")):
        say(("status",), "exit code 0 is a success")
    elif status and not core & {JobState.FAILED, JobState.ERROR, JobState.BLOCKED}:
        say(("status",), "it should be a status of failed, error or blocked")
    else:
        tries = given.get("tries", TRIES_OF_BLOCKED if JobState.BLOCKED in core else 1)
        if isinstance(tries, int) and not isinstance(tries, bool) and 1 <= tries <= TRIES_MAX:
            return tries
        say(("tries",), f"it should be a number from 1 to {TRIES_MAX}")
    return 0
