"""No variable of the environment, whatever its value, ends in a traceback."""

import pytest

from cli.anything import problem_of, some_values
from weft.settings import all_declared, variable_of

pytestmark = [pytest.mark.heavy, pytest.mark.usefixtures("finds_nothing")]

NAMES = [*all_declared()]
COMMANDS = (["ls"], ["audit"], ["down"])


@pytest.mark.parametrize("name", NAMES)
def test_no_variable_ends_in_a_traceback(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    number = NAMES.index(name)
    problems = []
    for value in some_values(number):
        monkeypatch.setenv(variable_of(name), value)
        problems += [problem_of(["config"])]
        if value in {"abc", "~nobody-", "postgresql://[", "\udcff"}:
            problems += [problem_of(COMMANDS[number % len(COMMANDS)])]
    capsys.readouterr()

    assert list(filter(None, problems)) == []
