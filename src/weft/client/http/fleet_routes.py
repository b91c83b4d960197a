"""The routes of queues, pools and workers."""

from collections import Counter
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document
from weft.core.errors import Invalid


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

    # ---- workers
