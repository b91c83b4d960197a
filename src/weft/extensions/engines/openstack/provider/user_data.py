"""What cloud-init gets to do on a new server: it starts a worker that reaches the api.

The token stands in a file that only the worker's account reads, never in an argument. cloud-init
keeps what it got, and the cloud tells it to whoever asks on the machine, so the token is for this
machine's name and pool alone, and ends with the machine.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from weft.extensions.engines.openstack.provider.options import USER, text_of
from weft.plugins.providers.pool_options import PROGRAM, worker_variables
from weft.ports.provider import ProviderError, WantedMachine

FOLDER: Final = "/etc/weft"
TOKEN_FILE: Final = f"{FOLDER}/worker.token"
SETTINGS_FILE: Final = f"{FOLDER}/worker.env"
UNIT: Final = "weft-worker.service"
BYTES_MAX: Final = 65_535 * 3 // 4
"""Nova's limit holds for what base64 makes of it."""


def user_data_of(machine: WantedMachine, connect: str) -> str:
    """Return the document of a machine. Raise `ProviderError` if it is too long."""
    user = text_of(machine.options, "user", USER)
    command = [
        text_of(machine.options, "program", PROGRAM),
        "worker", "--connect", connect, "--token-file", TOKEN_FILE,
    ]  # fmt: skip
    token = "" if machine.credential is None else machine.credential.token
    settings = "".join(
        f"{name}={_quoted(value)}\n"
        for name, value in sorted(worker_variables(machine, home="/var/lib/weft").items())
    )
    document = {
        "users": ["default", {"name": user, "system": True, "homedir": "/var/lib/weft"}],
        "write_files": [
            _file(TOKEN_FILE, f"{token}\n", "0600", f"{user}:{user}"),
            _file(SETTINGS_FILE, settings, "0644", "root:root"),
            _file(f"/etc/systemd/system/{UNIT}", _unit(user, command), "0644", "root:root"),
        ],
        "runcmd": [["systemctl", "enable", "--now", UNIT]],
    }
    # cloud-init reads YAML, of which JSON is a part.
    found = f"#cloud-config\n{json.dumps(document, indent=1)}\n"
    if len(found.encode()) > BYTES_MAX:
        raise ProviderError("labels and options of the machine are too long for its user data")
    return found


def _file(path: str, content: str, permissions: str, owner: str) -> Mapping[str, Any]:
    # Deferred: the account is made first.
    return {
        "path": path, "content": content, "permissions": permissions, "owner": owner,
        "defer": True,
    }  # fmt: skip


def _unit(user: str, command: list[str]) -> str:
    return (
        "[Unit]\nDescription=weft worker\nWants=network-online.target\n"
        "After=network-online.target\n\n"
        f"[Service]\nUser={user}\nStateDirectory=weft\nEnvironmentFile={SETTINGS_FILE}\n"
        f"ExecStart={' '.join(map(_in_unit, command))}\nRestart=on-failure\nRestartSec=5\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def _in_unit(word: str) -> str:
    """Quote a word of a command, in which % and $ mean something, too."""
    return _quoted(word).replace("%", "%%").replace("$", "$$")


def _quoted(text: str) -> str:
    """Quote a text for systemd."""
    if any(ord(one) < ord(" ") for one in text):
        raise ProviderError("labels and options of the machine hold line breaks")
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
