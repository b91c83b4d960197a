"""What `weft doctor` asks of hosts."""

import asyncio
from collections.abc import Iterator

from weft.core.findings import Finding
from weft.extensions.engines.ssh.provider import check_hosts
from weft.extensions.engines.ssh.settings import SshSettings
from weft.ports.provider import ProviderError
from weft.settings import Settings


def check_known_hosts(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    ssh = settings.section(SshSettings)
    if ssh.ssh_connect is None:
        return
    advice = "See docs/guides/many-machines.md#a-list-of-hosts for the settings and the file."
    try:
        n_answer, wrong = asyncio.run(check_hosts(ssh))
    except ProviderError as error:
        yield Finding("hosts", "wrong", str(error), advice)
        return
    yield Finding("hosts", "ok" if n_answer else "wrong", f"{n_answer} hosts answer by ssh")
    for name, why in wrong.items():
        yield Finding("hosts", "warning", f"host {name} does not answer: {why}", advice)
