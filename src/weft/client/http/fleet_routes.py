"""The routes of queues, pools and workers."""

from collections import Counter

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.listing import Document
from weft.core.errors import Invalid


class FleetRoutes(DocumentCalls):
    """Where jobs wait, and where they run."""

    async def list_shares(self, pool: str) -> list[Document]:
        """Return the users with work in a pool, who is served next first: `user, weight, n_ready,
        ready_cpu, running_cpu, fair_cpu`, the last as if the cores in use were shared fairly.
        Users who do not see the tenant get their own. Raise `PoolNotFound`.
        """
        return await self._items(f"/v1/pools/{segment(pool, 'pool')}/shares")

    async def set_secret(self, name: str, value: str) -> Document:
        """Keep a secret for one's jobs, encrypted, in place of one of the same name; return it
        without its value. Raise `TooManySecrets`, `SecretKeyMissing`.
        """
        # Looked at here, because the exception of an encoder would hold the value.
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise Invalid(
                "the value of the secret is not text",
                detail="It has half of a surrogate pair, which UTF-8 cannot express.",
                hint="Encode it, for example by base64, and let the job decode it.",
            )
        return await self._put(f"/v1/secrets/{segment(name, 'secret')}", {"value": value})

    async def reroute_queues(
        self, *, queue: str | None = None, to: str | None = None, dry_run: bool = False
    ) -> list[Document]:
        """Move jobs that wait, and have never run, to the queues that guards choose now; return
        how many moved from which queue to which.

        Jobs that name their queue stay, unless `to` is given. Only for administrators.

        Args:
            queue: Only jobs of this queue.
            to: Move them to this queue, whatever its guard says.
            dry_run: Only count.
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
