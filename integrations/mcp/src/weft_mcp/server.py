"""The server. A tool is a function; its name, words and types are what an agent sees."""

import argparse
import functools
import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from weft import Batch, Client, Job, WeftError

ROWS_MAX: Final = 200
LOG_CHARACTERS: Final = 20_000
SHOWN: Final = (
    *("id", "job_id", "name", "state", "reason", "exit_code", "message", "created_at", "cost"),
    *("n_jobs", "n_succeeded", "n_failed", "n_cancelled", "duration_ms"),
)
SECRET: Final = re.compile(
    r"((?i:authorization: *\S+ +|bearer +"
    r"|(?:token|password|secret|api_?key)\w*[\"']?\s*[=:]\s*[\"']?))[^\s\"',}]{4,}"
    r"|()weft_[\w-]{20,}"
)
"""What is said to be a secret, and what has the form of weft's own tokens."""
INSTRUCTIONS: Final = (
    "Jobs of the job system weft. A batch is b4, a job of it b4.j7. Begin with `list_batches`; "
    "`failures` groups what failed by its cause; `why` says why something waits or what became "
    "of it, and the command that changes it."
)


class Tools:
    """What an agent may call: all of the public methods that `--write` does not keep away."""

    writing: Final = ("submit", "cancel")

    def __init__(self, client: Client) -> None:
        self._client = client

    def list_batches(self, query: str | None = None, limit: int = 20) -> str:
        """List batches, newest first. `query` is one of weft's, such as `state = running`."""
        return _json(_short(self._client.list_batches(query, reverse=True), limit))

    def list_jobs(self, batch: str, query: str | None = None, limit: int = 50) -> str:
        """List jobs of a batch such as `b4`. `query`: such as `state = failed`."""
        return _json(_short(self._client.get_batch(batch).list_jobs(query), limit))

    def status(self, ref: str) -> str:
        """Show the whole document of a batch `b4` or a job `b4.j7`."""
        return _json(self._at(ref).status())

    def why(self, ref: str) -> str:
        """Say why a batch or a job waits, or what became of it, and what would change that."""
        return _json(self._at(ref).why())

    def logs(
        self, job: str, stream: Literal["stdout", "stderr", "both"] = "both", *, end: bool = True
    ) -> str:
        """Show what a job `b4.j7` has written: its end, or with `end` false its beginning."""
        text = self._client.get_job(job).log(stream=stream)
        return text[-LOG_CHARACTERS:] if end else text[:LOG_CHARACTERS]

    def failures(self, batch: str) -> str:
        """Group the failed jobs of a batch by their cause, each with examples to look at."""
        return _json(self._client.get_batch(batch).list_causes())

    def costs(self, by: Literal["project", "user", "day"] = "project", days: int = 30) -> str:
        """Show what jobs have cost in the last days, by project, user or day."""
        since = (datetime.now(UTC) - timedelta(days=days)).date()
        return _json(self._client.billing_report(by, since=since))

    def submit(self, document: dict[str, Any]) -> str:
        """Submit jobs: `{"jobs": [{"command": ["echo", "hi"]}]}`. Return the id."""
        return f"b{self._client.submit(document, progress=False).id}"

    def cancel(self, ref: str) -> str:
        """Cancel a batch `b4` or a job `b4.j7`."""
        return _json(self._at(ref).cancel())

    def _at(self, ref: str) -> Batch | Job:
        return self._client.get_job(ref) if "." in ref else self._client.get_batch(ref)


def server(client: Client, *, may_write: bool) -> MCPServer[Any]:
    """Return a server with the tools of a client."""
    result = MCPServer[Any]("weft", instructions=INSTRUCTIONS, log_level="WARNING")
    tools = Tools(client)
    names = [name for name in vars(Tools) if callable(getattr(tools, name))]
    for name in names:
        if not name.startswith("_") and (may_write or name not in Tools.writing):
            result.add_tool(_told(getattr(tools, name)), structured_output=False)
    return result


def _told(tool: Callable[..., str]) -> Callable[..., str]:
    """Return a tool that tells errors in weft's words, and no secret."""

    @functools.wraps(tool)
    def call(*arguments: object, **named: object) -> str:
        try:
            return _masked(tool(*arguments, **named))
        except (WeftError, ValueError) as error:
            raise ToolError(_masked(f"weft: {error}")) from None

    return call


def _masked(text: str) -> str:
    return SECRET.sub(lambda found: f"{found[1] or ''}<masked>", text)


def _short(documents: Iterable[Any], limit: int) -> Any:  # noqa: ANN401 (JSON)
    shown = islice(documents, max(1, min(limit, ROWS_MAX)))
    return [{name: each[name] for name in SHOWN if each.get(name) is not None} for each in shown]


def _json(value: object) -> str:
    return json.dumps(value, default=str, ensure_ascii=False)


def main() -> None:
    """Serve on standard input and output, until the input ends."""
    parser = argparse.ArgumentParser("weft-mcp", description="Show the jobs of weft to agents.")
    parser.add_argument("--write", action="store_true", help="let them submit and cancel, too")
    parser.add_argument("--url", help="address of the server; default: as weft finds it")
    given = parser.parse_args()
    with Client(given.url) as client:
        server(client, may_write=given.write).run("stdio")
