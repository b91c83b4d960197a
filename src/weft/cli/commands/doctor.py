"""`weft doctor`: find problems, and suggest repairs."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from weft.cli.input.options import LOCAL, Local, Parameter, WrongOption
from weft.cli.input.settings import NO_LINK_OPTIONS, LinkOptions, settings_of
from weft.cli.terminal.incidents import print_findings
from weft.cli.terminal.report import note
from weft.client.http.blocking import run
from weft.core.findings import Finding
from weft.settings import Settings


def doctor(
    *,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    report: Path | None = None,
    link: LinkOptions = NO_LINK_OPTIONS,
    shared: Local = LOCAL,
) -> int:
    """Check installation, home, server, database, disk and kernel; exit code 1 if something is
    wrong. `off` marks what is not there and nobody has asked for. With `--connect`: whether a
    worker outside could work from here: reach, TLS, clock, token and version.

        weft doctor --quiet
        weft doctor --connect https://weft.example.org --token-file node.token
        weft doctor --report weft-report.txt

    Args:
        quiet: Print only what is wrong or may become so.
        report: New file for whoever helps: findings, versions, settings, the last lines of the
            roles' logs, and nothing that is secret.
        link: What a worker outside would be started with.
    """
    from weft.run.doctor import examine  # noqa: PLC0415 (heavy: the server's side)

    settings = settings_of(shared, link)
    findings = examine(settings) if link.connect is None else run(_outside(settings))
    shown = [finding for finding in findings if not quiet or finding.verdict not in {"ok", "off"}]
    if not shared.as_json([asdict(finding) for finding in shown]):
        print_findings(shown)
    if report is not None:
        _write(report, settings, findings)
    return 1 if any(finding.verdict == "wrong" for finding in findings) else 0


def _write(file: Path, settings: Settings, findings: list[Finding]) -> None:
    from weft.run.report import write_report  # noqa: PLC0415 (as above)

    try:
        write_report(file, settings, findings)
    except OSError as error:
        raise WrongOption(
            f"--report: cannot write {file}", detail=f"{error.strerror}.",
            hint="Name a new file in a directory that there is.",
        ) from error  # fmt: skip
    note(f"{file} is written: read it before you pass it on")


async def _outside(settings: Settings) -> list[Finding]:
    from weft.ports.extension import loaded, workers_outside  # noqa: PLC0415 (as above)

    return [finding async for finding in loaded(workers_outside().examined)(settings)]
