"""A broker that somebody has started, and a queue of the siege that travels over it."""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from weft.core.errors import Invalid
from weft_siege.network import Wire

PORT = 5672
_TRANSPORT = """
[[transports]]
name = "broker"
kind = "rabbitmq"
address = {address}
virtual_host = {virtual_host}
tenants = ["default"]
user = {user}
password_file = "broker.password"
"""
_QUEUE = """
[[queue]]
name = "{name}"
priority = 1
transport = "broker"
"""


class Broker:
    """What weft must know of it: files that name the connection and the queue."""

    def __init__(self, url: str, directory: Path) -> None:
        try:
            parts = urlsplit(url)
            address = f"{parts.scheme}://{parts.hostname}:{parts.port or PORT}"
        except ValueError:
            parts, address = urlsplit(""), ""
        if parts.scheme not in {"amqp", "amqps"} or not parts.hostname:
            raise Invalid(
                "the broker is no URL of AMQP",
                detail="It begins with amqp:// or amqps://, and names a host.",
                hint="Write it as `--broker amqp://guest:guest@127.0.0.1:5672`.",
            )
        self.wire = Wire(parts.hostname, parts.port or PORT)
        self.queue = f"siege-{secrets.token_hex(4)}"
        self.transports, self.queues = directory / "transports.toml", directory / "queues.toml"
        (directory / "broker.password").touch(0o600)
        (directory / "broker.password").write_text(unquote(parts.password or "guest"))
        facts = {
            "address": address,
            "virtual_host": unquote(parts.path[1:]) or "/",
            "user": unquote(parts.username or "guest"),
        }
        self._quoted = {name: json.dumps(value) for name, value in facts.items()}
        self._is_plain = parts.scheme == "amqp"
        self.transports.write_text(_TRANSPORT.format(**self._quoted))
        self.queues.write_text(_QUEUE.format(name=self.queue))

    @asynccontextmanager
    async def carried(self) -> AsyncIterator[None]:
        """Let weft reach it by the wire; by TLS, which knows it by its name, it does so itself."""
        async with self.wire.carrying():
            if self._is_plain:
                address = {"address": json.dumps(f"amqp://127.0.0.1:{self.wire.port}")}
                self.transports.write_text(_TRANSPORT.format(**self._quoted | address))
            yield
