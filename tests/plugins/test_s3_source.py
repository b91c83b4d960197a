"""The source `s3`: pages of a list of objects. tests/e2e/test_s3_stores.py asks a real server."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from callbacks.receiver import answering, receiving
from weft.core.addresses import AllowedHosts
from weft.ports.source import SourceFailed, SourceSite
from weft_lines.sources.s3 import S3Source
from weft_testing.source_suite import SourceReader, SourceSuite

SITE = SourceSite(stores=AllowedHosts(everything=True))
HEAD = "<?xml version='1.0'?>"


@pytest.fixture
def server() -> Any:  # noqa: ANN401 (of this test)
    return SimpleNamespace(body="", status=200)


def page(*objects: tuple[str, str], cut: bool = False, how: str = "url") -> str:
    listed = "".join(
        f"<Contents><Key>{name}</Key><LastModified>2027-04-{day}T10:00:00.123Z</LastModified>"
        f"<ETag>&quot;e{day}&quot;</ETag><Size>7</Size><Owner><ID>Key</ID></Owner></Contents>"
        for name, day in objects
    )
    root = '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    said = f"<EncodingType>{how}</EncodingType><IsTruncated>{str(cut).lower()}</IsTruncated>"
    return f"{HEAD}{root}{said}{listed}</ListBucketResult>"


def read(server: Any, cursor: Any = None, site: SourceSite = SITE, **options: Any) -> Any:  # noqa: ANN401 (JSON)
    async def read() -> Any:  # noqa: ANN401 (JSON)
        async with receiving(answering(server.status, body=server.body.encode())) as bucket:
            at = {"url": f"http://127.0.0.1:{bucket.port}/b/?x=1", "store": "l1c", "below": "lab/"}
            return await asyncio.to_thread(S3Source().read, {**at, **options}, cursor, site)

    return asyncio.run(read())


def test_pages_follow_each_other_and_then_only_what_is_new_comes(server: Any) -> None:  # noqa: ANN401 (of this test)
    server.body = page(("lab/S2/b%20%2B.zip", "05"), ("lab/S2/c.zip", "03"), cut=True)
    first = read(server, prefix="S2/")
    assert [one.key for one in first.items] == ["S2/c.zip", "S2/b +.zip"]  # by date
    assert first.items[0].fields == {
        "path": "S2/c.zip",
        "store": "l1c",
        "bytes": 7,
        "etag": "e03",
        "modified": "2027-04-03T10:00:00Z",
    }
    assert (first.more, first.cursor["after"]) == (True, "lab/S2/c.zip")

    server.body = page(("lab/S2/d.zip", "04"))
    last = read(server, first.cursor, prefix="S2/")
    assert (last.more, last.cursor["after"]) == (False, None)

    # The next list is compared with the newest of all pages of the one before, less the overlap.
    server.body = page(("lab/S2/c.zip", "03"), ("lab/S2/d.zip", "04"), ("lab/S2/e.zip", "06"))
    again = read(server, last.cursor, prefix="S2/")
    assert [one.key for one in again.items] == ["S2/d.zip", "S2/e.zip"]
    assert read(server, again.cursor, overlap="0s").items == again.items[1:]


class TestObjects(SourceSuite):
    """Two pages, which follow what the server is asked for."""

    @pytest.fixture(autouse=True)
    async def _bucket(self) -> AsyncIterator[None]:
        listed = page(("lab/a", "01"), ("lab/b", "02"))
        async with receiving(answering(200, body=listed.encode())) as bucket:
            self.url = f"http://127.0.0.1:{bucket.port}/b/"
            yield

    def reader(self) -> SourceReader:
        options = {"url": self.url, "store": "l1c", "below": "lab/"}
        return SourceReader(S3Source(), options, SITE)

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {"refused": {"url": "http://127.0.0.1:1/b"}}


def test_only_names_that_match_are_items_and_versions_by_their_tags(server: Any) -> None:  # noqa: ANN401 (of this test)
    server.body = page(("lab/S2/", "01"), ("lab/S2/a.txt", "02"), ("lab/S2/deep/a.zip", "03"))
    assert [one.key for one in read(server, pattern="*.zip", versions=True).items] == [
        "S2/deep/a.zip@e03"
    ]
    assert [one.key for one in read(server, prefix="S2/", pattern="a.*").items] == ["S2/a.txt"]
    server.body = page(("lab/a+b%20c", "01"), how="")  # of a store that encodes nothing
    assert [one.key for one in read(server).items] == ["a+b%20c"]
    server.body = page()
    assert read(server).cursor == {"after": None, "since": None, "newest": None}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        f"{HEAD}<Error><Code>X</Code></Error>",
        page(("a", "99")),
        page(("a", "01")).replace("<Size>7</Size>", ""),
        page(("a", "01"))[:-9],
        page(("a", "01")).replace(HEAD, '<!DOCTYPE x [<!ENTITY a "b">]>'),
    ],
)
def test_what_is_no_list_is_refused(server: Any, body: str) -> None:  # noqa: ANN401 (of this test)
    server.body = body
    with pytest.raises(SourceFailed, match="no list of objects"):
        read(server)


def test_refusals_and_forbidden_addresses_say_why(server: Any) -> None:  # noqa: ANN401 (of this test)
    server.body, server.status = "", 403
    with pytest.raises(SourceFailed, match="answers with 403"):
        read(server)
    with pytest.raises(SourceFailed, match="store_private_hosts does not allow it"):
        read(server, site=SourceSite(allowed=AllowedHosts(everything=True)))
