"""`weft doctor`: find problems, and suggest repairs."""

from dataclasses import asdict
from typing import Annotated

from weft.cli.input.options import LOCAL, Local, Parameter
from weft.cli.input.settings import NO_LINK_OPTIONS, LinkOptions, settings_of
from weft.cli.terminal.findings import print_findings
from weft.client.http.blocking import run
from weft.core.findings import Finding
from weft.settings import Settings


def doctor(
    *,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="")] = False,
    link: LinkOptions = NO_LINK_OPTIONS,
    shared: Local = LOCAL,
) -> int:
    """Check installation, home, server, database, disk and kernel; exit code 1 if something is
    wrong. `off` marks what is not there and nobody has asked for. With `--connect`: whether a
    worker outside could work from here: reach, TLS, clock, token and version.

        weft doctor --quiet
        weft doctor --connect https://weft.example.org --token-file node.token

    Args:
        quiet: Print only what is wrong or may become so.
        link: What a worker outside would be started with.
    """
    from weft.run.doctor import examine  # noqa: PLC0415 (heavy: the server's side)

    settings = settings_of(shared, link)
    findings = examine(settings) if link.connect is None else run(_outside(settings))
    shown = [finding for finding in findings if not quiet or finding.verdict not in {"ok", "off"}]
    if not shared.as_json([asdict(finding) for finding in shown]):
        print_findings(shown)
    return 1 if any(finding.verdict == "wrong" for finding in findings) else 0


async def _outside(settings: Settings) -> list[Finding]:
    from weft.ports.extension import loaded, workers_outside  # noqa: PLC0415 (as above)

    return [finding async for finding in loaded(workers_outside().examined)(settings)]
