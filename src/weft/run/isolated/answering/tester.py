"""Makes the tests of one tester."""

from collections.abc import Callable, Mapping

from weft.core.ends.conditions import MESSAGE_CHARS_MAX, Tested
from weft.ports.tester import TESTER_PLUGINS, StillBlocked, Tester, TesterSite

Test = Callable[[Mapping[str, str]], Tested]


def begin(asked: tuple[str, TesterSite]) -> Test:
    """Return what makes one test. Raise what the tester raises."""
    name, site = asked
    made = TESTER_PLUGINS.load(name)()

    def test(parameters: Mapping[str, str]) -> Tested:
        try:
            _check(made, name, parameters)
            tested = made.test(parameters, site)
        except StillBlocked as error:
            return Tested(passed=False, message=str(error)[:MESSAGE_CHARS_MAX])
        return Tested(tested.passed is True, str(tested.message)[:MESSAGE_CHARS_MAX])

    return test


def _check(tester: Tester, name: str, parameters: Mapping[str, str]) -> None:
    """Raise `StillBlocked` for parameters that are missing or unknown."""
    known = (*tester.parameters, *tester.optional)
    for parameter in parameters:
        if parameter not in known:
            raise StillBlocked(f"the tester {name} has no parameter {parameter!r}")
    for parameter in tester.parameters:
        if parameter not in parameters:
            raise StillBlocked(f"the tester {name} needs the parameter {parameter!r}")
