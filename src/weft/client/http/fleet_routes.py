"""The routes of queues, pools and workers."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document
from weft.core.errors import BadId, Invalid


class FleetRoutes(Requests):
    """Where jobs wait, and where they run."""

    # ---- pools

    async def list_shares(self, name: str) -> list[Document]:
        """Return the users with work in a pool, who is served next first. Raise `PoolNotFound`."""
        path = f"/v1/pools/{quote(name, safe='')}/shares"
        return await self._items(path)

    # ---- secrets

    async def set_secret(self, name: str, value: str) -> Document:
        """Keep a secret, encrypted; return it without its value. Raise `Invalid`,
        `TooManySecrets`.
        """
        # Looked at here, because the exception of an encoder would hold the value.
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise Invalid(
                "the value of the secret is not text",
                detail="It has half of a surrogate pair, which UTF-8 cannot express.",
                hint="Encode it, for example by base64, and let the job decode it.",
            )
        return await self._put(f"/v1/secrets/{quote(name, safe='')}", {"value": value})

    # ---- queues

    async def list_queues(self) -> list[Document]:
        """Return the queues in the order in which their guards are asked, with their jobs."""
        return await self._items("/v1/queues")

    async def get_queue(self, name: str) -> Document:
        """Return a queue. Raise `QueueNotFound`."""
        return await self._get(f"/v1/queues/{quote(name, safe='')}")

    async def save_queues(self, queues: Sequence[Document], *, dry_run: bool = False) -> Document:
        """Make these the queues of the tenant, beside `default`; return what changes. Only for
        administrators. Raise `QueueHasJobs` if one with waiting jobs would go.
        """
        return await self._put("/v1/queues", {"queues": queues, "dry_run": dry_run})

    async def drain_queue(self, name: str) -> Document:
        """Let a queue take no more jobs; return it. Only for administrators. Raise
        `QueueNotFound`.
        """
        return await self._post(f"/v1/queues/{quote(name, safe='')}/drain", {})

    async def reroute_queues(
        self, *, queue: str | None = None, to: str | None = None, dry_run: bool = False
    ) -> list[Document]:
        """Move waiting jobs, some with each request; return how many moved from which queue to
        which. Only for administrators.
        """
        counts: Counter[tuple[str, str]] = Counter()
        cursor: str | None = None
        while True:
            wanted = {"queue": queue, "to": to, "dry_run": dry_run, "cursor": cursor}
            page = await self._post("/v1/queue-reroute", wanted)
            for one in page["moves"]:
                counts[one["queue"], one["to"]] += one["n_jobs"]
            cursor = page["cursor"]
            if cursor is None:
                return [
                    {"queue": now, "to": to, "n_jobs": count}
                    for (now, to), count in counts.items()
                ]

    async def test_queues(self, document: Document) -> Document:
        """Return which queues would take the jobs of a batch document, and why others not."""
        return await self._post("/v1/queue-test", document)

    # ---- workers

    async def list_workers(self, *, all_: bool = False) -> list[Document]:
        """Return the workers by name; `all_`: also those that have ended in order."""
        query = {"all": "true"} if all_ else {}
        return await self._items("/v1/workers", query)

    async def get_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Return a worker with the latest changes of its state."""
        return await self._get(_worker_path(name), {"pool": pool})

    async def cordon_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> Document:
        """Let a worker take no new job; what it has goes on."""
        path = f"{_worker_path(name)}/cordon"
        return await self._post(path, {"reason": reason}, query={"pool": pool})

    async def drain_worker(
        self, name: str, *, reason: str | None = None, pool: str | None = None
    ) -> Document:
        """Let a worker take no new job, and its process end when nothing runs."""
        path = f"{_worker_path(name)}/drain"
        return await self._post(path, {"reason": reason}, query={"pool": pool})

    async def uncordon_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Let a worker take jobs again."""
        return await self._post(f"{_worker_path(name)}/uncordon", {}, query={"pool": pool})

    async def lose_worker(self, name: str, *, pool: str | None = None) -> Document:
        """Give up a silent worker. Raise `WorkerAtWork`."""
        return await self._post(f"{_worker_path(name)}/lose", {}, query={"pool": pool})


def _worker_path(name: str) -> str:
    if not name:  # the address would be that of the list
        raise BadId(name, expected="a worker has a name")
    return f"/v1/workers/{quote(name, safe='')}"
