"""Addresses of files in a setup that name a bucket, `s3://BUCKET/…`: the tenant's store of that
bucket is meant, as jobs reach buckets by stores alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from weft.core.lines.line import Setup

_SCHEME: Final = "s3://"
_FILES: Final[Mapping[str, str]] = {"inputs": "from", "outputs": "to"}
"""Where the address of a file stands in the two fields."""


def names_buckets(setup: Setup) -> bool:
    """Say whether files of its jobs are addressed by buckets."""
    return any(True for job in setup.jobs.values() for _ in _in_buckets(job))


def with_stores(setup: Setup, stores: Mapping[str, str]) -> Setup:
    """Return a setup that names stores instead of their buckets, where there is one. `stores`:
    addresses by name.
    """
    longest = sorted(stores.items(), key=lambda store: len(store[1]), reverse=True)

    def meant(address: str) -> str:
        for name, url in longest:
            if address.startswith(f"{url}/"):
                return f"store://{name}/{address.removeprefix(f'{url}/')}"
        return address

    jobs = {}
    for name, job in setup.jobs.items():
        changed = {**job}
        for field, index, address in _in_buckets(job):
            files = [*changed[field]]
            files[index] = {**files[index], _FILES[field]: meant(address)}
            changed[field] = files
        jobs[name] = changed
    return replace(setup, jobs=jobs)


def without_store(setup: Setup) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield where files are in buckets that no store has, and what is to be done."""
    for name, job in setup.jobs.items():
        for field, index, address in _in_buckets(job):
            bucket = "/".join(address.split("/")[:3])
            what = (
                f"no store of the tenant is in {bucket}: `weft store add NAME {bucket}` makes one"
            )
            yield ("job", name, field, str(index)), what


def _in_buckets(job: Mapping[str, Any]) -> Iterator[tuple[str, int, str]]:
    for field, name in _FILES.items():
        files = job.get(field)
        for index, one in enumerate(files if isinstance(files, list) else ()):
            address = one.get(name) if isinstance(one, Mapping) else None
            if isinstance(address, str) and address.startswith(_SCHEME):
                yield field, index, address
