"""`weft doctor`: find problems, and suggest repairs."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import settings_of
from weft.cli.terminal.findings import print_findings
from weft.cli.terminal.screen import print_json


def doctor(
    *,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    shared: Local = LOCAL,
) -> int:
    """Check installation, home, server, database, disk and kernel; exit code 1 if something is
    wrong. `off` marks what is not there and nobody has asked for.

        weft doctor --quiet

    Args:
        quiet: Print only what is wrong or may become so.
        shared: Options of every command.
    """
    from weft.run.doctor import examine  # noqa: PLC0415 (heavy: the server's side)

    findings = examine(settings_of(shared))
    shown = [one for one in findings if not quiet or one.verdict not in {"ok", "off"}]
    if shared.json:
        print_json([asdict(one) for one in shown])
    else:
        print_findings(shown)
    return 1 if any(one.verdict == "wrong" for one in findings) else 0
