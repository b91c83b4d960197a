"""`hq`: submit, list, show and cancel jobs in the words of HyperQueue."""

from __future__ import annotations

import json
import sys

from weft_hq.document import read_submission
from weft_hq.server import call, environment
from weft_hq.words import Mistake

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from weft_hq.server import Document
USAGE, FAILED, INTERRUPTED = 2, 1, 130
MAY_PASS = (429, 503, 507)
NOT_FOUND = 404
PAGE_ROWS = 1000
DAY_S = 86400
COUNTS = {
    "running": ("n_running",),
    "finished": ("n_succeeded",),
    "failed": ("n_failed", "n_errored"),
    "canceled": ("n_cancelled",),
}


def main() -> int:
    """Run one command."""
    try:
        return _run(sys.argv[1:])
    except Mistake as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if not hasattr(error, "hint"):  # all of weft have one
            raise
        return _tell(error)


def _run(words: list[str]) -> int:
    mode = _taken(words, "--output-mode") or "cli"
    if mode not in {"cli", "json", "quiet"}:
        raise Mistake(f"invalid value '{mode}' for '--output-mode <MODE>'")
    match words:
        case ["submit", *rest] | ["job", "submit", *rest]:
            return _submit(mode, rest)
        case ["job", "list", *rest]:
            asked = _taken(rest, "--filter") or "waiting,running"
            states = None if rest == ["--all"] else asked.split(",")
            jobs = [job for job in _jobs() if states is None or _state(job) in states]
            return _show(mode, jobs)
        case ["job", "info", which]:
            return _show(mode, [call("GET", f"/v1/batches/{n}") for n in _numbers(which)])
        case ["job", "cancel", which]:
            return max(map(_cancel, _numbers(which)), default=0)
    raise Mistake(f"unrecognized subcommand '{' '.join(words[:2])}'")


def _taken(words: list[str], option: str) -> str | None:
    """Take an option and its value from a command line."""
    for at, word in enumerate(words):
        if word.partition("=")[0] == option:
            value = word.partition("=")[2] if "=" in word else "".join(words[at + 1 : at + 2])
            del words[at : at + (1 if "=" in word else 2)]
            return value
    return None


def _submit(mode: str, words: list[str]) -> int:
    number = call("POST", "/v1/batches", read_submission(words, environment()))["id"]
    told = {"quiet": f"{number}", "json": json.dumps({"id": number})}
    print(told.get(mode, f"Job submitted successfully, job ID: {number}"), flush=True)
    return 0


def _jobs() -> list[Document]:
    """Return the caller's batches that were made here and go on, or ended in the last day."""
    from time import gmtime, strftime, time  # noqa: PLC0415
    from urllib.parse import quote  # noqa: PLC0415

    since = strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(time() - DAY_S))
    me = json.dumps(call("GET", "/v1/whoami")["user"])
    query = f"user = {me} and hq =~ / and (state = running or end_time > {since})"
    path = f"/v1/batches?hidden=true&limit={PAGE_ROWS}&q={quote(query)}"
    page = call("GET", path)
    jobs = page["items"]
    while page["cursor"]:
        page = call("GET", f"{path}&cursor={quote(page['cursor'])}")
        jobs += page["items"]
    return list(reversed(jobs))


def _show(mode: str, jobs: list[Document]) -> int:
    if mode == "json":
        print(json.dumps([_info(job) for job in jobs]))
    else:
        print("".join(f"{job['id']} {_state(job).upper()}\n" for job in jobs), end="")
    return 0


def _info(job: Document) -> Document:
    stats = {state: sum(job[count] for count in counts) for state, counts in COUNTS.items()}
    stats["waiting"] = job["n_jobs"] - sum(stats.values())
    info = {"id": job["id"], "name": job["name"], "task_count": job["n_jobs"], "task_stats": stats}
    return {**info, "info": info}  # AiiDA's list, and as `hq job info` has it


def _state(job: Document) -> str:
    stats = _info(job)["task_stats"]
    if not job["complete"]:
        return "running" if stats["running"] else "waiting"
    return next(state for state in ("failed", "canceled", "finished") if stats[state])


def _cancel(number: str) -> int:
    try:
        call("POST", f"/v1/batches/{number}/cancel", {})
    except Exception as error:
        if getattr(error, "status", None) != NOT_FOUND:
            raise
        return _tell(error)
    return 0


def _numbers(which: str) -> list[str]:
    if not which.replace(",", "").isdecimal():
        raise Mistake(f"invalid value '{which}' for '<SELECTOR>'")
    return which.split(",")


def _tell(error: Any) -> int:  # noqa: ANN401 (an error of weft, which is not imported)
    """Say what weft says. What may pass has the words for which Nextflow tries again."""
    from weft.cli.terminal.report import print_error  # noqa: PLC0415

    if error.status in MAY_PASS:
        print("Socket timed out:", file=sys.stderr)
    print_error(error)
    return FAILED
