"""The border of workers outside, as a table: what serves each call, and about what it may ask. How
large arguments may be is said by their types (`call_forms`).
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from weft.ports.spool import Spool
from weft.ports.store import Caller, Claimed, HeartbeatAnswer, OfferAnswer, WorkTerms
from weft.ports.worker_link import Beat, Ends, Hello, LinkedStore, LinkTerms
from weft_link.serving.left_files import LinkedFiles
from weft_link.serving.linked_hand_over import LinkedHandOver
from weft_link.serving.looking import LinkedRunningFiles
from weft_link.serving.output import LinkedOutput
from weft_link.serving.refusals import refused
from weft_link.serving.shared_transactions import Hearing, SharedTransactions


class About(Enum):
    """About what a call may ask."""

    NOBODY = "who asks need not have registered"
    ITS_OWN = "its own incarnation"
    ITS_JOBS = "jobs that it has now"
    ANYTHING = "no secret: who registered may ask, in bounded sets"


class Parts(Protocol):
    """What calls are served with."""

    spool: Spool
    lost_after_s: float
    handing_over: LinkedHandOver
    running: LinkedRunningFiles
    output: LinkedOutput
    files: LinkedFiles
    hearing: Hearing
    beats: SharedTransactions[Beat, HeartbeatAnswer]

    @property
    def shipped_to(self) -> Callable[[str], str | None]:
        """Return what says where output in the spool is shipped to."""

    def ends_of(self, pool_id: int) -> SharedTransactions[Ends, Sequence[str]]:
        """Return what shares transactions for the ends of a pool."""


class Asked(NamedTuple):
    """A call."""

    name: str
    given: dict[str, Any]
    caller: Caller
    work: WorkTerms
    incarnation_id: int
    facts: msgspec.Raw
    store: LinkedStore
    terms: LinkTerms
    """Of its incarnation; of nobody there are none."""
    live: Sequence[Claimed] = ()
    """For calls about its jobs."""

    async def ask_store(self, **instead: Any) -> Any:  # noqa: ANN401 (of the call)
        """Call the store of the same name."""
        return await getattr(self.store, self.name)(**{**self.given, **instead})


Serve = Callable[[Parts, Asked], Awaitable[object]]


@dataclass(frozen=True)
class Rule:
    """How one call is answered."""

    about: About
    serves: Serve
    strange: Callable[[Mapping[str, Any]], object] | None = None
    """What is answered about another incarnation; None: the call is refused."""


async def _pass_on(_: Parts, asked: Asked) -> object:
    return await asked.ask_store()


async def _hello(parts: Parts, asked: Asked) -> Hello:
    known = await asked.store.database_id()
    return Hello(known, parts.lost_after_s, asked.work.pool, asked.work.names, time.time())


async def _register(parts: Parts, asked: Asked) -> object:
    caller, facts = asked.caller, _registration(asked)
    if shipped := parts.shipped_to(await asked.store.database_id()):
        facts = {**facts, "log_directory": shipped}
    if facts["log_place"] is not None:  # who follows its first output finds it at once
        owner = _hash_of(f"{caller.token_id}/{facts['name']}")
        await asyncio.to_thread(parts.spool.begin, facts["log_place"], owner)
    return await asked.store.register_linked(caller.token_id, facts)


def _registration(asked: Asked) -> Mapping[str, Any]:
    """Return a registration as it may be. Raise `LinkRefused`."""
    given, work = asked.given, asked.work
    if given["pool"] != work.pool:
        raise refused(f"It is for workers of pool {work.pool!r}.")
    if not fnmatchcase(given["name"], work.names):
        raise refused(f"It is for workers with names like {work.names!r}.")
    folder = given["log_place"]
    if folder is not None:  # nobody names a directory of others
        folder = _hash_of(f"{asked.caller.token_id}/{given['name']}/{folder}")
    return {**given, "log_place": folder}


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


async def _heartbeat(parts: Parts, asked: Asked) -> HeartbeatAnswer:
    beat = Beat(**asked.given)
    if asked.terms.log_place is not None and parts.spool.is_disk_full:
        beat = beat._replace(draining=True)  # no more jobs, whose output would find no room
    answer = await parts.beats.ask(beat)
    parts.output.heard(asked.incarnation_id, is_alive=answer.alive)
    worker = asked.work.pool, asked.terms.worker
    parts.hearing.note(asked.incarnation_id, worker, asked.facts, is_alive=answer.alive)
    return answer


async def _claim_jobs(parts: Parts, asked: Asked) -> object:
    claimed = await asked.ask_store()
    parts.output.begin(asked.incarnation_id, claimed)
    return claimed


async def _claim_reserved(parts: Parts, asked: Asked) -> object:
    found = await asked.ask_store()
    parts.output.begin(asked.incarnation_id, found[0])
    return found


async def _claim_offered(parts: Parts, asked: Asked) -> Sequence[OfferAnswer]:
    """Take offers of queues that the worker consumes: it does not even hear of others."""
    given = asked.given
    known = await asked.store.list_consumed(asked.incarnation_id, [given["transport"]])
    if (given["transport"], given["tenant"], given["queue"]) not in known:
        return [OfferAnswer("not_now", *offer) for offer in given["offers"]]
    answers: Sequence[OfferAnswer] = await asked.ask_store()
    claimed = [answer.claimed for answer in answers if answer.claimed is not None]
    parts.output.begin(asked.incarnation_id, claimed)
    return answers


async def _complete(parts: Parts, asked: Asked) -> object:
    """Record ends; those for workers of one pool share transactions."""
    if not asked.given["reports"]:
        return await asked.ask_store()
    verdicts = await parts.ends_of(asked.terms.pool_id).ask(Ends(**asked.given))
    parts.output.end(asked.incarnation_id, asked.given["reports"])
    return verdicts


async def _complete_and_claim(parts: Parts, asked: Asked) -> object:
    found = await asked.ask_store()
    parts.output.begin(asked.incarnation_id, found[1])
    parts.output.end(asked.incarnation_id, asked.given["reports"])
    return found


async def _get_secrets(_: Parts, asked: Asked) -> object:
    """Say of which there are; the previous release has no key for them."""
    return [secret and replace(secret, body=None) for secret in await asked.ask_store()]


async def _find_stores(_: Parts, asked: Asked) -> object:
    return [store and replace(store, body=None, row=None) for store in await asked.ask_store()]


async def _record_files(parts: Parts, asked: Asked) -> object:
    await parts.handing_over.check_files(asked.store, **asked.given)
    key = asked.given["key"]
    if key in {one.key for one in await asked.store.list_live(asked.incarnation_id)}:
        await parts.files.place(asked.store, key, asked.given["files"])
    return await asked.ask_store()


async def _record_products(parts: Parts, asked: Asked) -> object:
    parts.handing_over.check_products(asked.given["products"], asked.given["inputs"])
    return await asked.ask_store()


async def _get_chunks(parts: Parts, asked: Asked) -> object:
    pairs = zip(asked.given["batch_ids"], asked.given["chunk_firsts"], strict=False)
    return await parts.handing_over.chunks(asked.store, asked.incarnation_id, pairs)


async def _part_of_batch(_: Parts, asked: Asked) -> object:
    if asked.given["batch_id"] not in {job.batch_id for job in asked.live}:
        return None
    return await asked.ask_store()


def _among(name: str, *fields: str) -> Serve:
    """Ask about what is of its live jobs, of what a list names."""
    of = attrgetter(*fields)

    async def serve(_: Parts, asked: Asked) -> object:
        known = set(map(of, asked.live))
        return await asked.ask_store(**{name: [one for one in asked.given[name] if one in known]})

    return serve


def _no_secrets(given: Mapping[str, Any]) -> object:
    """Answer as about any attempt that the worker does not have."""
    return [None] * len(given["wanted"])


def _output(name: str) -> Serve:
    async def serve(parts: Parts, asked: Asked) -> object:
        method = getattr(parts.output, name)
        return await method(asked.store, asked.terms, asked.incarnation_id, asked.given)

    return serve


def _hand_over(name: str) -> Serve:
    async def serve(parts: Parts, asked: Asked) -> object:
        return await getattr(parts.handing_over, name)(asked.store, **asked.given)

    return serve


async def _checkpoint(parts: Parts, asked: Asked) -> object:
    return await getattr(parts.output, asked.name)(asked.store, **asked.given)


async def _write_file(parts: Parts, asked: Asked) -> int:
    given = {name: value for name, value in asked.given.items() if name != "incarnation_id"}
    await parts.output.check_live(asked.store, asked.incarnation_id, given["key"])
    return await parts.files.write(asked.store, **given)


async def _answer_look(parts: Parts, asked: Asked) -> None:
    await parts.running.take(asked.store, **asked.given)


_OWN: Final = About.ITS_OWN
_PASSED: Final = (
    "finish_drain",
    "leave",
    "list_consumed",
    "wait_for_work",
    "start_attempts",
    "record_phases",
    "record_progress",
    "record_note",
    "ask_block",
    "list_to_stop",
    "list_commands",
    "acknowledge_commands",
    "note_avoided",
    "find_files",
)
_FREE: Final = ("home_tenant", "list_ended_jobs", "list_removed")
CALLS: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        **dict.fromkeys(_PASSED, Rule(_OWN, _pass_on)),
        **dict.fromkeys(_FREE, Rule(About.ANYTHING, _pass_on)),
        "hello": Rule(About.NOBODY, _hello),
        "register_worker": Rule(About.NOBODY, _register),
        "heartbeat": Rule(_OWN, _heartbeat),
        "claim_jobs": Rule(_OWN, _claim_jobs),
        "claim_reserved": Rule(_OWN, _claim_reserved),
        "claim_offered": Rule(_OWN, _claim_offered),
        "complete_and_claim": Rule(_OWN, _complete_and_claim),
        "complete_attempts": Rule(_OWN, _complete),
        "find_stores": Rule(_OWN, _find_stores),
        "record_files": Rule(_OWN, _record_files),
        "record_products": Rule(_OWN, _record_products),
        "get_secrets": Rule(_OWN, _get_secrets, _no_secrets),
        "seal_secrets": Rule(_OWN, _hand_over("seal"), _no_secrets),
        "sign_files": Rule(_OWN, _hand_over("sign")),
        "check_functions": Rule(_OWN, _hand_over("check")),
        "write_log": Rule(_OWN, _output("write")),
        "write_logs": Rule(_OWN, _output("write_many")),
        "remove_logs": Rule(_OWN, _output("remove")),
        "write_checkpoint": Rule(_OWN, _output("write_checkpoint")),
        "write_file": Rule(_OWN, _write_file),
        "find_checkpoint": Rule(_OWN, _checkpoint),
        "read_checkpoint": Rule(_OWN, _checkpoint),
        "answer_look": Rule(_OWN, _answer_look),
        "get_chunks": Rule(About.ITS_JOBS, _get_chunks),
        "get_payload_part": Rule(About.ITS_JOBS, _part_of_batch),
        "get_app_part": Rule(About.ITS_JOBS, _part_of_batch),
        "list_job_users": Rule(About.ITS_JOBS, _among("jobs", "batch_id", "job_id")),
        "list_choices": Rule(About.ITS_JOBS, _among("batch_ids", "batch_id")),
        **dict.fromkeys(
            ("list_time_limits", "list_answers"),
            Rule(About.ITS_JOBS, _among("attempts", "batch_id", "job_id", "attempt")),
        ),
    }
)
