"""From the command line, the environment, the file and the defaults to values."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weft.core.bounded import Unreadable, read_toml
from weft.core.errors import FieldError
from weft.core.text.texts import nearest
from weft.ports.plugins import PluginGroup
from weft.settings.client import ClientProcessSettings
from weft.settings.declare import Declared, InvalidSetting, declared_in
from weft.settings.shown import shown_value

if TYPE_CHECKING:
    from weft.settings.settings import Settings

COMMAND_LINE = "command line"
FILE_NAME = "weft.toml"
SECTIONS = PluginGroup[type[Any]]("weft.settings", "section of settings")
_PREFIX = "WEFT_"
_SHOWN_CHARS = 200


def outer_environment() -> dict[str, str]:
    """Return the environment of this process without weft's settings, secrets among them."""
    return {name: text for name, text in os.environ.items() if not name.startswith(_PREFIX)}


class SettingValue(NamedTuple):
    """A value and where it came from.

    `command line`, `environment WEFT_X`, the path of a file, `default`.
    """

    value: Any  # settings have several types
    where: str


class _Given(NamedTuple):
    """What was given, before it is read."""

    flags: Mapping[str, Any]  # settings have several types
    environ: Mapping[str, str]
    file: Path
    text: str
    """Of the file."""
    stored: Mapping[str, Any]  # same

    def names(self) -> set[str]:
        """Return what may be names of settings."""
        variables = (name for name in self.environ if name.startswith(_PREFIX))
        return {*self.flags, *self.stored, *(_name_of(variable) for variable in variables)}

    def find(self, one: Declared) -> SettingValue:
        """Return the value that counts, not converted yet."""
        variable = variable_of(one.name)
        if one.name in self.flags:
            return SettingValue(self.flags[one.name], COMMAND_LINE)
        if self.environ.get(variable, "") != "":
            return SettingValue(self.environ[variable], f"environment {variable}")
        if one.name in self.stored:
            return SettingValue(self.stored[one.name], str(self.file))
        return SettingValue(one.default, "default")

    def where(self, name: str) -> str:
        """Return the file, with the line that names a setting if it can be told."""
        names = re.compile(rf"\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]")
        found = (n for n, line in enumerate(self.text.splitlines(), 1) if names.match(line))
        line = next(found, None)
        return str(self.file) if line is None else f"{self.file}:{line}"


def variable_of(name: str) -> str:
    """Return the environment variable of a setting."""
    return _PREFIX + name.upper()


def _name_of(variable: str) -> str:
    return variable.removeprefix(_PREFIX).lower()


def default_home(environ: Mapping[str, str]) -> Path:
    """Return `WEFT_HOME`, else the user's data directory."""
    named = environ.get("WEFT_HOME")
    if named:
        return _expanded(named)
    if os.uname().sysname == "Linux":  # as platformdirs says, whose import takes 10 ms
        data = os.environ.get("XDG_DATA_HOME", "").strip()
        return (Path(data) if data else _expanded("~/.local/share")) / "weft"
    import platformdirs  # noqa: PLC0415 (elsewhere)

    return Path(platformdirs.user_data_dir("weft"))


def home_of(named: Path | None, environ: Mapping[str, str] | None = None) -> Path:
    """Return the home, `named` on the command line or not, without a look at its settings.

    Raise `InvalidSetting` if it names a user who does not exist.
    """
    if named is not None:
        return _expanded(named).absolute()
    return default_home(os.environ if environ is None else environ).absolute()


def _expanded(home: str | Path) -> Path:
    try:
        return Path(home).expanduser()
    except RuntimeError as error:
        raise InvalidSetting(
            f"cannot use {str(home)!r} as home",
            detail="There is no user of that name.",
            hint="Name a directory with --home or WEFT_HOME.",
        ) from error


def is_said(name: str, flags: Mapping[str, Any] | None = None) -> bool:
    """Say whether a setting has its value from anywhere but its default."""
    given = _given(flags, None)
    is_in_environment = os.environ.get(variable_of(name), "") != ""
    return name in given.flags or is_in_environment or name in given.stored


def load_client_settings(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> ClientProcessSettings:
    """Return the settings of a client, without a look at those of the roles unless one of them is
    given: a command of the shell must not wait for that. Raises as `load_settings`.
    """
    given = _given(flags, environ)
    own = declared_in(ClientProcessSettings)
    if given.names() - {one.name for one in own}:
        return load_settings(flags, environ)
    return ClientProcessSettings(**_values(own, _read(given, [own])))


def load_settings(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> "Settings":
    """Return the settings. `flags`: those of the command line; `None` values count as not given.

    Plug-ins are only looked for if something is given that is not a setting of weft itself:
    commands of clients must not wait for that. Raises `InvalidSetting` with all offending
    settings at once.
    """
    given = _given(flags, environ)
    own = _own()
    sections = _plugin_sections() if given.names() - {one.name for one in own} else ()
    found = _read(given, [own, *map(declared_in, sections)])
    return _all_settings()(
        **_values(own, found),
        plugin_sections=tuple(
            section(**_values(declared_in(section), found))
            for section in sections
            if any(found[one.name].where != "default" for one in declared_in(section))
        ),
    )


def explain_settings(
    flags: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> tuple[dict[str, SettingValue], InvalidSetting | None]:
    """Return every setting with where its value came from, and what is wrong: such a setting has
    its default. Raise `InvalidSetting` if the file cannot be read.
    """
    given = _given(flags, environ)
    return _look(given, [_own(), *map(declared_in, _plugin_sections())])


@cache
def all_declared() -> Mapping[str, Declared]:
    """Return every setting by its name, those of plug-ins too."""
    sections: list[type[Any]] = [_all_settings(), *_plugin_sections()]
    return {one.name: one for section in sections for one in declared_in(section)}


def how_to_set(names: Iterable[str]) -> str:
    """Say how those of these names are changed that are settings; "": none is one."""
    known = sorted(all_declared().keys() & {*names})
    told = ", ".join(f"{name} in {FILE_NAME} ({variable_of(name)})" for name in known)
    return f"An administrator may set {told} and start weft again." if known else ""


def values_of(settings: "Settings") -> dict[str, Any]:  # settings have several types
    """Return every value by the name of its setting, those of plug-ins too."""
    values = {one.name: getattr(settings, one.name) for one in _own()}
    for kind in _plugin_sections():
        section = settings.section(kind)
        values |= {one.name: getattr(section, one.name) for one in declared_in(kind)}
    return values


def misspelt_variables(environ: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return variables that name no setting, each with the one that was probably meant.

    A variable that is unlike every setting is somebody else's, such as those of a job.
    """
    known = [variable_of(name) for name in all_declared()]
    given = os.environ if environ is None else environ
    unknown = (name for name in sorted(given) if name.startswith(_PREFIX) and name not in known)
    near = ((name, nearest(_name_of(name), map(_name_of, known))) for name in unknown)
    return {name: variable_of(meant) for name, meant in near if meant is not None}


def secret_variables(names: Iterable[str]) -> frozenset[str]:
    """Return which of these environment variables are secret settings of weft's own."""
    given = {name for name in names if name.startswith(_PREFIX)}
    client = declared_in(ClientProcessSettings)
    known = client if given <= {variable_of(one.name) for one in client} else _own()
    return frozenset(given & {variable_of(one.name) for one in known if one.is_secret})


@cache
def sql_settings() -> Mapping[str, Declared]:
    """Return the settings that SQL functions follow, by name."""
    return {one.name: one for one in _own() if one.in_sql}


@cache
def _own() -> tuple[Declared, ...]:
    return declared_in(_all_settings())


def _all_settings() -> "type[Settings]":
    from weft.settings.settings import Settings  # noqa: PLC0415 (35 ms)

    return Settings


@cache
def _plugin_sections() -> tuple[type[Any], ...]:  # dataclasses have no type of their own
    """Return the sections of the plug-ins that are installed and can be loaded."""
    return tuple(SECTIONS.load_sound()[0].values())


def _given(flags: Mapping[str, Any] | None, environ: Mapping[str, str] | None) -> _Given:
    environ = os.environ if environ is None else environ
    named = {name: value for name, value in (flags or {}).items() if value is not None}
    file = home_of(named.get("home"), environ) / FILE_NAME
    text = _text_of(file)
    return _Given(named, environ, file, text, _parsed(text, file))


def _values(
    declared: Sequence[Declared], found: Mapping[str, SettingValue]
) -> dict[str, Any]:  # settings have several types
    return {one.name: found[one.name].value for one in declared}


def _read(given: _Given, sections: Sequence[Sequence[Declared]]) -> dict[str, SettingValue]:
    """Return what was given for these settings, converted and checked."""
    result, wrong = _look(given, sections)
    if wrong is not None:
        raise wrong
    return result


def _look(
    given: _Given, sections: Sequence[Sequence[Declared]]
) -> tuple[dict[str, SettingValue], InvalidSetting | None]:
    result: dict[str, SettingValue] = {}
    problems: list[FieldError] = []
    for one in (one for section in sections for one in section):
        origin = given.find(one)
        if one.name == "home":
            # The file is in the home, so it cannot name it.
            where = "default" if origin.where == str(given.file) else origin.where
            result["home"] = SettingValue(given.file.parent, where)
            continue
        if one.name in result:
            problems.append(FieldError(f"/{one.name}", "two plug-ins declare this setting"))
        try:
            value = None if origin.value is None else one.convert(origin.value)
            result[one.name] = SettingValue(value, origin.where)
        except (ValueError, TypeError) as error:
            is_stored = origin.where == str(given.file)
            is_option = origin.where == COMMAND_LINE
            message = "it is not possible" if one.is_secret else _shortened(str(error))
            if not is_option:
                where = given.where(one.name) if is_stored else origin.where
                message += f" ({where})"
            if allowed := one.allowed(in_file=is_stored):
                message += f"; allowed: {allowed}"
            problems.append(FieldError(one.option if is_option else f"/{one.name}", message))
            result[one.name] = SettingValue(one.default, "default")
    problems += _unknown(given, {one.name for section in sections for one in section})
    if problems:
        return result, InvalidSetting(
            "a setting has an impossible value",
            detail="; ".join(f"{p.pointer.removeprefix('/')}: {p.message}" for p in problems)
            + ".",
            hint="Correct or remove it; `weft config` lists every setting with its limits.",
            errors=problems,
        )
    file = str(given.file)
    stored = (one for section in sections for one in section if result[one.name].where == file)
    secrets = [one.name for one in stored if _is_secret(one, result[one.name])]
    return result, _readable(given.file, secrets)


def _is_secret(one: Declared, found: SettingValue) -> bool:
    """Return whether a value must not be seen: an address is one only if a password is in it."""
    return shown_value(one, found.value) not in {None, str(found.value)}


def _readable(file: Path, secrets: Sequence[str]) -> InvalidSetting | None:
    """Refuse a file with secrets that others than its owner, or the group of another, may read."""
    if secrets and (found := file.stat()).st_mode & (0o077 if found.st_uid == os.geteuid() else 7):
        return InvalidSetting(
            f"others may read {file}",
            detail=f"It holds {' and '.join(secrets)}.",
            hint=f"Type `chmod {'600' if found.st_uid == os.geteuid() else 'o='} {file}`.",
        )
    return None


def _unknown(given: _Given, known: Collection[str]) -> Iterator[FieldError]:
    for name in sorted(given.stored.keys() - known):
        near = nearest(name, known)
        meant = f"; did you mean {near}?" if near else ""
        shown = _shortened(name)
        yield FieldError(f"/{shown}", f"there is no such setting ({given.where(name)}){meant}")


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _text_of(file: Path) -> str:
    """Return the text of the file, an empty one if there is none."""
    try:
        if file.exists() and not file.is_file():
            raise _unreadable(file, "It is not a file.")
        return file.read_text("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise _unreadable(file, f"{error.strerror}.") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        raise _no_toml(file, f"It is not UTF-8: byte 0x{byte:02x} in line {line}.") from error


def _parsed(text: str, file: Path) -> Mapping[str, Any]:
    if not text:
        return {}
    try:
        return read_toml(text)
    except Unreadable as error:
        raise _no_toml(file, f"{error}.") from error


def _unreadable(file: Path, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"cannot read {file}",
        detail=why,
        hint="Make it a readable file, or name another home with --home or WEFT_HOME.",
    )


def _no_toml(file: Path, why: str) -> InvalidSetting:
    return InvalidSetting(
        f"cannot read {file}", detail=why, hint="Write it as TOML in UTF-8: `port = 8765`."
    )
