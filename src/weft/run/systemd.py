"""`weft install --systemd`: the units of systemd, with the program that is installed here."""

import os
import re
import sys
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from weft.core.errors import Conflict

_PROGRAM = "/opt/weft/bin/weft"
_HIDDEN = ("/home", "/root", "/run/user")
_OF_USERS = frozenset(
    {
        "Delegate",
        "DelegateSubgroup",
        "Environment",
        "ExecStart",
        "KillMode",
        "LimitNOFILE",
        "LockPersonality",
        "MemoryDenyWriteExecute",
        "NoNewPrivileges",
        "Restart",
        "RestartSec",
        "RestrictAddressFamilies",
        "RestrictNamespaces",
        "RestrictRealtime",
        "RestrictSUIDSGID",
        "SystemCallArchitectures",
        "SystemCallErrorNumber",
        "SystemCallFilter",
        "TimeoutStopSec",
        "UMask",
    }
)
"""What a service of a user may say: the rest wants root."""


class UnitsRefused(Conflict, code="CLI.UNITS_REFUSED"):
    """Units of systemd cannot be written, or would not find weft."""


def write_units(root: Path, home: Path | None) -> Sequence[Path]:
    """Write the units of the system below a root, or those of this user for a home."""
    program = Path(sys.executable).with_name("weft")
    if home is None and any(map(program.is_relative_to, _HIDDEN)):
        raise UnitsRefused(
            "services of the system cannot see this weft",
            detail=f"It is {program}, and they are kept from the homes of users.",
            hint="Install weft in /opt/weft, or write units of your own with `--user`.",
        )
    units_of = (
        Path("/etc/systemd/system")
        if home is None
        else Path("~/.config/systemd/user").expanduser()
    )
    directory = root / units_of.relative_to("/")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        units = (files("weft.run") / "units").iterdir()
        return [_write(unit, directory / unit.name, program, home) for unit in units]
    except OSError as error:
        raise UnitsRefused(
            f"cannot write {directory}",
            detail=f"{os.strerror(error.errno or 0)}.",
            hint="Be root, or write units of your own with `--user`.",
        ) from error


def _write(unit: Traversable, path: Path, program: Path, home: Path | None) -> Path:
    command = _quoted(str(program)).replace("$", "$$")
    text = unit.read_text().replace(_PROGRAM, command)
    path.write_text(text if home is None else _of_user(text, home))
    return path


def _quoted(word: str) -> str:
    """Return a word as systemd reads it: quoted if it must be, and no `%` begins a specifier.

    Source: systemd.syntax(7), "Quoting"; systemd.unit(5), "Specifiers".
    """
    plain = word.replace("%", "%%")
    if re.fullmatch(r"[\w./=%@:+,-]+", plain, re.ASCII):
        return plain
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _of_user(text: str, home: Path) -> str:
    """Return a unit without what wants root."""
    head, service = text.split("[Service]\n")
    settings = "".join(
        f"{line}\n"
        for line in service.partition("[Install]")[0].splitlines()
        if line.partition("=")[0] in _OF_USERS and "WEFT_HOME" not in line
    )
    return "\n".join(
        (
            *(line for line in head.splitlines() if line.startswith(("[Unit]", "Description="))),
            f"\n[Service]\nEnvironmentFile=-%E/weft/weft.env\nEnvironment={_quoted(f'WEFT_HOME={home}')}",
            f"{settings}\n[Install]\nWantedBy=default.target\n",
        )
    )
