"""Policies of installed packages, in built-in terms (`ports/policy.py`)."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from weft.core.ends.retry_policy import POLICIES, completed, mistakes
from weft.core.text.texts import nearest
from weft.ports.policy import POLICY_PLUGINS

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
