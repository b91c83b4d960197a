"""A server of SMTP that takes what it is handed, and refuses some of it at first."""

import asyncio
import re
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

FAILS = 3
"""One of this number of recipients is refused for now."""
_NAME = re.compile(rb"^message-id: *<([^@>]+)", re.IGNORECASE | re.MULTILINE)
_TO = re.compile(r"<([^>]*)>")


class Mailbox:
    """Keeps how often each message was taken, by its recipient."""

    def __init__(self) -> None:
        self.port = 0
        self.taken: dict[str, Counter[str]] = {}
        self._count = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen."""
        async with await asyncio.start_server(self._take, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            yield

    async def _take(self, reader: StreamReader, writer: StreamWriter) -> None:
        to, verb = "", ""
        with suppress(OSError, EOFError):
            writer.write(b"220 here\r\n")
            while verb != "QUIT" and (line := (await reader.readline()).decode()):
                verb = line[:4].upper().strip()
                answer = "221 bye" if verb == "QUIT" else "250 ok"
                if verb == "RCPT":
                    self._count += 1
                    to = match[1] if (match := _TO.search(line)) else ""
                    answer = answer if self._count % FAILS else "451 later"
                if verb == "DATA":
                    writer.write(b"354 go on\r\n")
                    message = await reader.readuntil(b"\r\n.\r\n")
                    name = found[1].decode() if (found := _NAME.search(message)) else ""
                    self.taken.setdefault(to, Counter())[name] += 1
                writer.write(f"{answer}\r\n".encode())
        writer.close()
