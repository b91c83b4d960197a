"""A web server of two kinds of files, for the bench of staging; a process of its own.

`/common` is large, each `/own/N` small; both have an ETag. `/counts` says how often
each was sent.
"""

import asyncio
import json
import sys
from collections import Counter

COMMON_BYTES = 10_000_000
OWN_BYTES = 10_000


async def main() -> None:
    """Serve at a free port, which is printed, until the input ends."""
    bodies = {"common": bytes(COMMON_BYTES), "own": bytes(OWN_BYTES)}
    sent: Counter[str] = Counter()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            path = head.split(b" ", 2)[1].decode().strip("/")
            kind = path.partition("/")[0]
            tag = f'"{path.replace("/", "-")}"'
            if kind == "counts":
                body = json.dumps(sent).encode()
            elif f"if-none-match: {tag}".encode() in head.lower():
                sent["unchanged"] += 1
                writer.write(f"HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n\r\n".encode())
                continue
            else:
                sent[kind] += 1
                body = bodies[kind]
            length = f"Content-Length: {len(body)}\r\nETag: {tag}\r\n\r\n"
            writer.write(f"HTTP/1.1 200 OK\r\n{length}".encode())
            writer.write(body)
            try:
                await writer.drain()
            except ConnectionError:
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
