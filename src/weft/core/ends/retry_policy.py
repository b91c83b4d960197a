"""How long a job waits before it is tried again: a pure function of its policy and its history.

The database decides in the transaction that ends the attempt, by `weft._retry_wait`, which is this
function in SQL; a test compares the two.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

POLICIES: Final = ("constant", "exponential", "stepwise")
FIRST_S: Final = 10.0
LONGEST_S: Final = 300.0
GIVE_UP_S: Final = 48 * 3600.0
STEPS: Final[Sequence[Mapping[str, float]]] = (
    {"tries": 2, "wait_s": 10},
    {"tries": 10, "wait_s": 20},
    {"tries": 10, "wait_s": 60},
    {"tries": 100, "wait_s": 120},
    {"wait_s": 300},
)
WAIT_MAX_S: Final = 365 * 86_400.0
WAIT_MIN_S: Final = 0.001
STEPS_MAX: Final = 100
TRIES_MAX: Final = 2**31 - 1
_DOUBLINGS_MAX: Final = 60
"""From a millisecond to a year it is fewer, so nothing overflows."""
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "constant": ("wait_s",),
    "exponential": ("first_s", "longest_s"),
    "stepwise": ("steps", "give_up_s"),
}
EXTERNAL: Final[Mapping[str, Any]] = {
    "policy": "stepwise",
    "jitter": 0,
    "steps": STEPS,
    "give_up_s": GIVE_UP_S,
}
"""For external errors of jobs without a policy, as `weft._policy_of` has it."""


def wait_s(
    policy: Mapping[str, Any], tries: int, *, waited_s: float = 0, draw: float = 0
) -> float | None:
    """Return the seconds before the next try; None: it is given up.

    `policy`: as `completed` returns it. `tries`: those that came to nothing, the last one
    included. `waited_s`: since the end of the first of them. `draw`: from 0 to 1, how much of the
    jitter is taken away.
    """
    give_up_s = policy.get("give_up_s")
    if give_up_s is not None and waited_s >= give_up_s:
        return None
    wait = _plain_wait_s(policy, tries)
    return None if wait is None else wait * (1 - policy["jitter"] * draw)


def _plain_wait_s(policy: Mapping[str, Any], tries: int) -> float | None:
    match policy["policy"]:
        case "constant":
            return float(policy["wait_s"])
        case "exponential":
            doublings = min(tries - 1, _DOUBLINGS_MAX)
            return min(float(policy["first_s"]) * 2.0**doublings, float(policy["longest_s"]))
    left = tries
    for step in policy["steps"]:
        left -= step.get("tries", tries)
        if left <= 0:
            return float(step["wait_s"])
    return None


def completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a policy that has no mistakes with its defaults, so that SQL needs to know none."""
    # Rounded, because PostgreSQL refuses products that are too small for a number.
    jitter = round(given.get("jitter") or 0, 6)
    whole: dict[str, Any] = {"policy": given["policy"], "jitter": jitter}
    defaults: dict[str, Any] = {
        "wait_s": FIRST_S,
        "first_s": FIRST_S,
        "longest_s": LONGEST_S,
        "steps": STEPS,
        "give_up_s": GIVE_UP_S,
    }
    if given.get("first_s") is not None:
        defaults["longest_s"] = max(LONGEST_S, given["first_s"])
    for name in _FIELDS[given["policy"]]:
        value = defaults[name] if given.get(name) is None else given[name]
        whole[name] = [*map(_step, value)] if name == "steps" else value
    return whole


def _step(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None}


def mistakes(given: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what is wrong with a policy: where, and what."""
    own = _FIELDS[given["policy"]]
    for name in sorted({name for names in _FIELDS.values() for name in names} - {*own}):
        if given.get(name) is not None:
            yield (name,), f"has no meaning for the policy {given['policy']}"
    for name in ("wait_s", "first_s", "longest_s", "give_up_s"):
        if name in own and given.get(name) is not None:
            yield from _wrong_wait((name,), given[name])
    first, longest = given.get("first_s"), given.get("longest_s")
    if "first_s" in own and longest is not None and longest < (first or FIRST_S):
        yield ("longest_s",), f"is less than the first wait, {first or FIRST_S:g} s"
    jitter = given.get("jitter")
    if jitter is not None and not 0 <= jitter <= 1:
        yield ("jitter",), "must be from 0 (none) to 1 (the whole wait)"
    if given["policy"] == "stepwise" and given.get("steps") is not None:
        yield from _wrong_steps(given["steps"])


def _wrong_steps(
    steps: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if not 0 < len(steps) <= STEPS_MAX:
        yield ("steps",), f"must be from 1 to {STEPS_MAX} steps"
        return
    for n, step in enumerate(steps):
        yield from _wrong_wait(("steps", n, "wait_s"), step["wait_s"])
        tries = step.get("tries")
        if tries is None and n < len(steps) - 1:
            yield ("steps", n, "tries"), "only the last step may go on without end"
        elif tries is not None and not 0 < tries <= TRIES_MAX:
            yield ("steps", n, "tries"), f"must be from 1 to {TRIES_MAX}"


def _wrong_wait(
    at: tuple[str | int, ...], wait: float
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if not WAIT_MIN_S <= wait <= WAIT_MAX_S:
        yield at, f"must be from {WAIT_MIN_S:g} s to a year ({WAIT_MAX_S:.0f} s)"
