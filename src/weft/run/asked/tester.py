"""The tests of one tester, in a process of its own: `python -m weft.run.asked.tester`.

The driver starts it with an environment without settings or secrets. The first line of standard
input says which tester and what it may do, each other line is one test; each answer is a line on
standard output.
"""

from collections.abc import Callable, Mapping
from typing import IO, Any

from weft.core.addresses import parse_allowed_hosts
from weft.core.ends.conditions import (
    MESSAGE_CHARS_MAX,
    Tested,
    parse_tester_commands,
    parse_tester_paths,
)
from weft.ports.tester import TESTER_PLUGINS, StillBlocked, Tester, TesterSite
from weft.run.asked import thread_answers
from weft.run.asked.thread_answers import Answer


def serve(asked: IO[str], answers: IO[str]) -> None:
    """Answer until the input ends."""
    thread_answers.serve(asked, answers, _begin)


def _begin(site: Mapping[str, Any]) -> tuple[Answer, Callable[[Any], Answer]]:
    test = make_test(
        str(site["tester"]),
        TesterSite(
            allowed=parse_allowed_hosts(site["private_hosts"]),
            timeout_s=site["timeout_s"],
            paths=parse_tester_paths(site["paths"]),
            commands=parse_tester_commands(site["commands"]),
        ),
    )
    return _shown(Tested(passed=True, message="")), lambda parameters: _shown(test(parameters))


def _shown(tested: Tested) -> Answer:
    return {"passed": tested.passed, "message": tested.message[:MESSAGE_CHARS_MAX]}


def make_test(name: str, site: TesterSite) -> Callable[[Mapping[str, str]], Tested]:
    """Return what makes one test; whatever goes wrong, it has not passed."""
    try:
        tester = _load(name)
    except Exception as error:  # noqa: BLE001 (a plug-in may raise anything)
        tester, why = None, str(error) or type(error).__name__
    else:
        why = ""

    def test(parameters: Mapping[str, str]) -> Tested:
        if tester is None:
            return Tested(passed=False, message=why)
        try:
            _check(tester, name, parameters)
            tested = tester.test(parameters, site)
            return Tested(passed=tested.passed is True, message=str(tested.message))
        except StillBlocked as error:
            return Tested(passed=False, message=str(error))
        except Exception as error:  # noqa: BLE001 (same)
            return Tested(passed=False, message=f"{type(error).__name__}: {error}")

    return test


def _load(name: str) -> Tester:
    found = TESTER_PLUGINS.find(name)
    if found is None:
        raise StillBlocked(f"there is no tester {name!r}")
    return found()


def _check(tester: Tester, name: str, parameters: Mapping[str, str]) -> None:
    """Raise `StillBlocked` for parameters that are missing or unknown."""
    known = (*tester.parameters, *tester.optional)
    for parameter in parameters:
        if parameter not in known:
            raise StillBlocked(f"the tester {name} has no parameter {parameter!r}")
    for parameter in tester.parameters:
        if parameter not in parameters:
            raise StillBlocked(f"the tester {name} needs the parameter {parameter!r}")


if __name__ == "__main__":
    thread_answers.run(serve)
