"""What an application says of itself: `app.json` of an Agave bundle, or the same as `app.toml`.

Fields that weft has no use for are passed over, because genuine bundles have many.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import msgpack

from weft.core.apps.description import APP, AppDescription, bytes_of
from weft.core.apps.values import TYPES, Parameter, wrong_default
from weft.core.bounded import read_json, read_toml
from weft.core.errors import FieldError, InvalidApp
from weft.core.problems import PROBLEMS_MAX, pointer_of
from weft.core.text.patterns import WrongPattern, check_pattern

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TAKEN_BEGINNINGS: Final = (
    "LD_",
    "DYLD_",
    "AGAVE_",
    "WEFT_",
    "BASH_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "GIT_",
    "SSH_",
    "LC_",
    "GCONV_",
    "MALLOC_",
    "SLURM_",
)
_TAKEN: Final = frozenset(
    {
        "PATH",
        "HOME",
        "IFS",
        "ENV",
        "SHELL",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "CDPATH",
        "GLOBIGNORE",
        "FPATH",
        "TMPDIR",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "UID",
        "EUID",
        "PPID",
        "PWD",
        "OLDPWD",
        "TRACEPARENT",
        "HOSTALIASES",
        "LOCALDOMAIN",
        "RESOLV_HOST_CONF",
        "TERMINFO",
        "TERMPATH",
        "EDITOR",
        "PAGER",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CLASSPATH",
        "MANPATH",
        "NLSPATH",
        "TZDIR",
    }
)


def wrong_variable(name: str) -> str | None:
    """Return why a parameter cannot be called that; None: it can.

    It is a variable of the program, so it must be one that a shell can read, and not one by which
    the program's loader, shell or interpreter would do something else.
    """
    if not _VARIABLE.fullmatch(name):
        return "expected at most 64 letters, digits and underscores, no digit first"
    upper = name.upper()
    if upper in _TAKEN or upper.startswith(_TAKEN_BEGINNINGS):
        return f"the variable {name} has a meaning of its own; choose another id"
    return None


FILES: Final = ("app.json", "app.toml")
"""The names of the file, the first of which counts if both are there."""
BYTES_MAX: Final = 1 << 20
PARAMETERS_MAX: Final = 200
_TEXT_MAX: Final = 1000
_DURATION: Final = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)")
_NUMBER_MAX: Final = 1_000_000
_CARDINALITY_MAX: Final = 1000


def seconds_of(text: str) -> float | None:
    """Return what `HH:mm:ss` says; None: that is not its form."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = map(int, match.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def parse_description(name: str, text: bytes) -> AppDescription:
    """Read the file of this name. Raise `InvalidApp` with all that is wrong."""
    try:
        decoded = text.decode()
        found = read_toml(decoded) if name.endswith(".toml") else read_json(decoded)
        msgpack.encode(found)  # answers may be in that, whose numbers have 64 bits
    except (ValueError, OverflowError) as error:
        raise invalid_app(f"{name} cannot be read", str(error)) from error
    if not isinstance(found, Mapping):
        raise invalid_app(f"{name} cannot be read", "it is not an object")
    return _Reader(found).read()


def invalid_app(title: str, why: str, errors: Sequence[FieldError] = ()) -> InvalidApp:
    """Return the error."""
    return InvalidApp(
        title,
        detail=f"{why[:1].upper()}{why[1:]}.",
        hint="The guide on applications says what a folder holds.",
        errors=errors,
    )


class _Reader:
    """Reads one description, and notes what is wrong."""

    def __init__(self, found: Mapping[str, Any]) -> None:
        self._found = found
        self._problems: list[FieldError] = []

    def read(self) -> AppDescription:
        name = f"{self._text('name', must=True)}-{self._text('version', must=True)}"
        if not self._problems and not APP.fullmatch(name):
            message = "with the version: at most 80 letters, digits, '.', '_' and '-'"
            self._note("/name", message)
        parameters = self._list("parameters")
        inputs = self._list("inputs")
        ids = [parameter.id for parameter in (*parameters, *inputs)]
        for twice in sorted({one for one in ids if ids.count(one) > 1}):
            self._note("/parameters", f"{twice} is there twice")
        described = AppDescription(
            name=name,
            title=self._text("label")[:_TEXT_MAX] or self._text("shortDescription")[:_TEXT_MAX],
            wrapper=self._wrapper(),
            parameters=parameters,
            inputs=inputs,
            queue=self._text("defaultQueue") or None,
            nodes=self._number("defaultNodeCount"),
            processors=self._number("defaultProcessorsPerNode"),
            memory=self._measured("defaultMemoryPerNode", bytes_of, "expected such as 2GB"),
            timeout_s=self._measured("defaultMaxRunTime", seconds_of, "expected HH:mm:ss"),
            system=self._text("executionSystem") or None,
        )
        if self._problems:
            errors = self._problems[:PROBLEMS_MAX]
            first = errors[0]
            why = f"{first.pointer.strip('/')}: {first.message}"
            raise invalid_app("the application cannot be used", why, errors)
        return described

    def _note(self, pointer: str, message: str) -> None:
        self._problems.append(FieldError(pointer, message))

    def _text(self, name: str, *, must: bool = False) -> str:
        value = self._found.get(name)
        if value is None and not must:
            return ""
        if not isinstance(value, str) or (must and not value.strip()):
            self._note(f"/{name}", "expected a text")
            return ""
        if "\0" in value:
            self._note(f"/{name}", "a text cannot contain NUL")
            return ""
        return value

    def _wrapper(self) -> str:
        text = self._text("templatePath", must=True)
        parts = text.split("/")
        if text and ({"", ".", ".."} & set(parts) or not text.isprintable()):
            self._note("/templatePath", "expected the path of a file within the folder")
        return text

    def _number(self, name: str) -> int:
        value = self._found.get(name)
        if value is None:
            return 1
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _NUMBER_MAX:
            self._note(f"/{name}", f"expected a whole number from 1 to {_NUMBER_MAX}")
            return 1
        return value

    def _measured(self, name: str, measure: Any, expected: str) -> Any:  # noqa: ANN401 (two kinds)
        value = self._found.get(name)
        if value in (None, ""):
            return None
        text = str(value) if isinstance(value, str | int | float) else ""
        amount = None if isinstance(value, bool) else measure(text)
        if not amount:
            self._note(f"/{name}", expected)
        return amount

    def _list(self, name: str) -> tuple[Parameter, ...]:
        value = self._found.get(name) or []
        if not isinstance(value, list):
            self._note(f"/{name}", "expected a list")
            return ()
        if len(value) > PARAMETERS_MAX:
            self._note(f"/{name}", f"{len(value)} entries, at most {PARAMETERS_MAX}")
            return ()
        parameters = [self._entry(f"/{name}/{n}", one, name) for n, one in enumerate(value)]
        return tuple(parameter for parameter in parameters if parameter is not None)

    def _entry(self, at: str, entry: object, kind: str) -> Parameter | None:
        if not isinstance(entry, Mapping):
            self._note(at, "expected an object")
            return None
        own = entry.get("id")
        wrong = wrong_variable(own) if isinstance(own, str) else "expected a text"
        if wrong or not isinstance(own, str):
            self._note(f"{at}/id", wrong or "")
            return None
        value, details, meaning = (
            part if isinstance(part := entry.get(name) or {}, Mapping) else {}
            for name in ("value", "details", "semantics")
        )
        n_problems = len(self._problems)
        parameter = Parameter(
            id=own,
            type="string" if kind == "inputs" else self._type(at, value),
            label=_text_in(details, "label"),
            required=value.get("required") is True,
            visible=value.get("visible") is not False,
            pattern=self._pattern(at, value),
            choices=self._choices(at, value),
            argument=_text_in(details, "argument"),
            show_argument=details.get("showArgument") is True,
            repeat_argument=details.get("repeatArgument") is True,
            least=self._cardinality(at, meaning, "minCardinality", 0),
            most=self._cardinality(at, meaning, "maxCardinality", -1 if kind == "inputs" else 1),
            default=value.get("default"),
        )
        if (
            n_problems == len(self._problems)
            and kind != "inputs"
            and (wrong := wrong_default(parameter))
        ):
            self._note(f"{at}/value/default", wrong)
        return parameter

    def _type(self, at: str, value: Mapping[str, Any]) -> str:
        kind = value.get("type", "string")
        if kind not in TYPES:
            self._note(f"{at}/value/type", f"expected one of {', '.join(TYPES)}")
            return "string"
        return str(kind)

    def _pattern(self, at: str, value: Mapping[str, Any]) -> str | None:
        text = value.get("validator")
        if text in (None, ""):
            return None
        if not isinstance(text, str):
            self._note(f"{at}/value/validator", "expected a text")
            return None
        try:
            check_pattern(text)
            re.compile(text)
        except (WrongPattern, re.error, RecursionError) as error:
            self._note(f"{at}/value/validator", str(error))
            return None
        return text

    def _choices(self, at: str, value: Mapping[str, Any]) -> tuple[str, ...]:
        if value.get("type") != "enumeration":
            return ()
        given = value.get("enumValues", value.get("enum_values"))
        found: list[str] = []
        for one in given if isinstance(given, list) else []:
            if isinstance(one, Mapping) and len(one) == 1:
                found += one
            elif isinstance(one, str):
                found.append(one)
        if not found or not isinstance(given, list) or len(found) != len(given):
            self._note(f"{at}/value/enumValues", "expected a list of values")
        return tuple(found)

    def _cardinality(self, at: str, meaning: Mapping[str, Any], name: str, usual: int) -> int:
        value = meaning.get(name, usual)
        if value is None:
            return usual
        if isinstance(value, bool) or not isinstance(value, int) or value > _CARDINALITY_MAX:
            self._note(f"{at}/semantics{pointer_of(name)}", "expected a whole number up to 1000")
            return usual
        return max(value, -1)


def _text_in(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return value[:_TEXT_MAX].replace("\0", "") if isinstance(value, str) else ""
