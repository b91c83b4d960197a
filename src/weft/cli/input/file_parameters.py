"""The parameters of a job file.

`parameters:` declares them with their defaults, `--set` gives them values, `${NAME}` in a text of
the file stands for one. A value is never a part of a script: jobs have each parameter as a
variable of its name, which their shells read themselves.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from weft.cli.input.options import WrongOption
from weft.cli.input.parameter_values import typed_value
from weft.core.errors import InvalidValue
from weft.core.lines.line import PARAMETER, Parameter, parse_parameters
from weft.core.problems import Problems, pointer_of
from weft.core.text.shell_script import script_words
from weft.core.text.texts import nearest

PARAMETERS: Final = "parameters"
_PLACE: Final = re.compile(r"(\$?)\$\{([A-Za-z_]\w*)\}")
"""`$${NAME}` is the text `${NAME}`."""
_OF_WEFT: Final = "WEFT_"
"""Begins the variables that jobs of an array fill in."""
_TEXTS: Final = frozenset({"env", "name", "command"})
"""Fields whose values are texts, also where a parameter is a number."""
_AS_IT_IS: Final = frozenset({"stdin", "function"})
_SHELL: Final = re.compile(r"#!\s*(/\S*/)?(env\s+)?(\S*/)?\w*sh\b")


def filled_file(file: Mapping[str, Any], settings: Sequence[str]) -> Any:  # noqa: ANN401 (JSON)
    """Return a whole file with the values of its parameters, whatever is wrong with it."""
    problems = Problems()
    return FileParameters(file.get(PARAMETERS) or {}, settings, problems).fill(file)


class FileParameters:
    """The parameters of one file, with their values. Notes in `problems` what is wrong."""

    def __init__(self, declared: object, settings: Sequence[str], problems: Problems) -> None:
        """Read the declaration and `NAME=VALUE`s. Raise `WrongOption`."""
        self._problems = problems
        needed = set[str]()
        if isinstance(declared, Mapping):
            needed = {str(name) for name, value in declared.items() if value is None}
            declared = {name: value for name, value in declared.items() if value is not None}
        known = parse_parameters(declared, self._say)
        self._values = {
            name: parameter.value if parameter.type != "date" else _written(parameter.value)
            for name, parameter in known.items()
        }
        for word in settings:
            name, equals, text = word.partition("=")
            if not equals or not PARAMETER.fullmatch(name):
                raise WrongOption(
                    f"--set: {word[:80]!r} is no value", hint="Write it as --set NAME=VALUE."
                )
            if name not in known and name not in needed:
                names = ", ".join(sorted({*known, *needed})) or "none"
                raise WrongOption(
                    f"--set: the file has no parameter {name}",
                    detail=f"Its `parameters` are: {names}.",
                    hint=f"Declare it with its default: `parameters: {{{name}: …}}`.",
                )
            self._values[name] = _value_of(name, text, known.get(name))
            needed.discard(name)
        for name in sorted(needed):
            self._say((name,), f"it has no default and no value: give one by `--set {name}=…`")

    def _say(self, where: Sequence[str], what: str) -> None:
        self._problems.add(InvalidValue, pointer_of(PARAMETERS, *where), what)

    @property
    def variables(self) -> dict[str, str]:
        """Return the parameters as variables of jobs."""
        return {name: _written(value) for name, value in self._values.items()}

    def fill(self, value: Any, at: str = "", field: str = "") -> Any:  # noqa: ANN401 (JSON)
        """Return a part of a document with the values of its parameters. `field`: which one."""
        if isinstance(value, str):
            return self._filled(value, at, field) if "${" in value else value
        if isinstance(value, Mapping):
            return {
                name: self._filled_field(str(name), part, at, field)
                for name, part in value.items()
            }
        if isinstance(value, list):
            words = [word for word in value if isinstance(word, str)] if field == "command" else []
            scripts = script_words(words) if len(words) == len(value) else {}
            return [
                part if index in scripts else self.fill(part, f"{at}/{index}", field)
                for index, part in enumerate(value)
            ]
        return value

    def _filled_field(self, name: str, value: Any, at: str, above: str) -> Any:  # noqa: ANN401 (JSON)
        at = f"{at}{pointer_of(name)}"
        if name == "script":
            return self._script(value, at)
        if name in _AS_IT_IS:
            return value
        return self.fill(value, at, above if above in _TEXTS else name)

    def _script(self, text: Any, at: str) -> Any:  # noqa: ANN401 (JSON)
        """Return a script as it is. One that no shell runs says `${NAME}` in vain."""
        if isinstance(text, str) and text.startswith("#!") and not _SHELL.match(text):
            for _, name in _PLACE.findall(text):
                if name in self._values:
                    message = f"no shell reads ${{{name}}} here: read the variable {name} instead"
                    self._problems.add(InvalidValue, at, message)
        return text

    def _filled(self, text: str, at: str, field: str) -> Any:  # noqa: ANN401 (JSON)
        whole = _PLACE.fullmatch(text)
        if whole and not whole[1] and whole[2] in self._values and field not in _TEXTS:
            return self._values[whole[2]]

        def written(match: re.Match[str]) -> str:
            name = match[2]
            if match[1]:
                return match[0][1:]
            if name in self._values:
                return _written(self._values[name])
            if field != "command" and not name.startswith(_OF_WEFT):
                near = nearest(name, self._values)
                meant = f"; did you mean {near}?" if near else ""
                message = (
                    f"${{{name}}} is no parameter of the file{meant}; declare it in `parameters`, "
                    f"or write $${{{name}}} for these characters"
                )
                self._problems.add(InvalidValue, at, message)
            return match[0]

        return _PLACE.sub(written, text)


def _value_of(name: str, text: str, declared: Parameter | None) -> Any:  # noqa: ANN401 (JSON)
    """Return the value of `--set`, of the type of the default. Raise `WrongOption`."""
    kind = None if declared is None else declared.type
    value, problems = typed_value(text, kind), list[str]()
    parameter = parse_parameters({name: value}, lambda _, what: problems.append(what)).get(name)
    if kind == "date" and not problems:
        try:
            datetime.fromisoformat(text)
        except ValueError:
            problems.append("write a date as 2027-01-01")
    elif (
        kind not in {None, "text"}
        and parameter is not None
        and parameter.type != kind
        and (kind, parameter.type) != ("number", "integer")
    ):
        problems.append(f"it is of the type {kind}, as its default in the file")
    if problems:
        raise WrongOption(
            f"--set: {name} cannot be {text[:80]!r}",
            detail=f"{problems[0][:1].upper()}{problems[0][1:]}.",
            hint="`parameters` in the file says its default.",
        )
    return value


def _written(value: object) -> str:
    if isinstance(value, datetime | date):
        return value.isoformat()
    return value if isinstance(value, str) else json.dumps(value)
