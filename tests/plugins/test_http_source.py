"""The source `http`, against a real server on this host: pages, cursors, refusals."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from web_server import Answer, Question, web_server
from weft.core.addresses import parse_allowed_hosts
from weft.ports.source import SourceFailed, SourceSite
from weft_lines.sources.http import EMPTY_PAGES_MAX, HttpSource
from weft_lines.sources.opensearch import OpenSearchSource
from weft_testing.source_suite import SourceReader, SourceSuite

Serve = Callable[[str, dict[str, str]], Any]


class Catalogue:
    """A server whose answers a test chooses; it remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        self.given: Mapping[str, str] = {}
        """The headers of the last request."""
        self.answer: Serve = lambda _path, _query: {"items": []}
        self.status, self.headers = 200, {}  # type: int, dict[str, str]
        self.url = ""

    def serve(self, asked: Question) -> Answer:
        parts = urlsplit(asked.path)
        query = {name: one[0] for name, one in parse_qs(parts.query).items()}
        self.asked.append(query)
        self.given = dict(asked.headers)
        found = self.answer(parts.path, query)
        body = found if isinstance(found, bytes) else json.dumps(found).encode()
        return Answer(body, self.status, self.headers)


@pytest.fixture
def catalogue() -> Iterator[Catalogue]:
    found = Catalogue()
    with web_server(found.serve) as found.url:
        yield found


class Reader(SourceReader):
    """Reads a catalogue."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        source: HttpSource | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        site = SourceSite(allowed=parse_allowed_hosts("127.0.0.1"), timeout_s=20)
        super().__init__(
            source or HttpSource(), {"url": f"{catalogue.url}/search", **options}, site
        )


class TestCatalogues(SourceSuite):
    """Pages of a catalogue, which lead on to the next."""

    @pytest.fixture(autouse=True)
    def _server(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        pages = {"": ["a", "b"], "p2": ["c"]}
        catalogue.answer = lambda _path, query: {
            "items": [{"key": one} for one in pages[query.get("cursor", "")]],
            "cursor": None if query else "p2",
        }

    def reader(self) -> Reader:
        return Reader(self.catalogue)

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            "source_private_hosts": {"url": "http://10.0.0.1/"},
            "has no list": {"items": "other"},
        }


class TestFeatures(TestCatalogues):
    def reader(self) -> Reader:
        return Reader(self.catalogue, source=OpenSearchSource(), items="items", query={})


def test_features_of_a_catalogue_of_scenes_are_items(catalogue: Catalogue) -> None:
    title = "S2A_MSIL1C_20210413T101347_N0300_R022_T32TLR_20210413T122117"
    properties = {
        "title": f"{title}.SAFE",
        "productIdentifier": f"/eodata/S2/{title}.SAFE",
        "startDate": "2021-04-13T10:13:47Z",
        "published": "2021-04-13T13:40:00Z",
        "cloudCover": 7,
    }
    feature = {"type": "Feature", "id": "f-1", "geometry": None, "properties": properties}
    link = {"rel": "next", "href": f"{catalogue.url}/search?page=2"}

    def answer(_path: str, query: dict[str, str]) -> Any:  # noqa: ANN401
        if "page" in query:
            return {"type": "FeatureCollection", "features": [{"id": "f-2", "properties": {}}, 7]}
        return {"features": [feature], "properties": {"links": [{"rel": "self"}, link]}}

    catalogue.answer = answer
    cursor = {"field": "published", "first": "2021-04-01", "overlap": "1h"}
    reader = Reader(
        catalogue,
        source=OpenSearchSource(),
        query={"status": "0"},
        cursor=cursor,
        dedupe="${item.product_id}/nrt",
    )
    first, second = reader.read(), reader.read()
    assert [(one.key, one.fields) for one in first.items] == [
        (
            f"{title}/nrt",
            {
                **properties,
                "product_id": title,
                "path": f"S2/{title}.SAFE",
                "tile": "32TLR",
                "measured": "2021-04-13T10:13:47Z",
                "key": f"{title}/nrt",
            },
        )
    ]
    assert (first.more, second.more) == (True, False)
    assert [one.fields for one in second.items] == [None, None]
    reader.read()
    asked = {
        "sortParam": "published",
        "sortOrder": "ascending",
        "maxRecords": "200",
        "status": "0",
    }
    assert catalogue.asked == [
        {**asked, "publishedAfter": "2021-04-01"},
        {"page": "2"},
        {**asked, "publishedAfter": "2021-04-13T12:40:00Z"},
    ]


def test_headers_are_sent(catalogue: Catalogue) -> None:
    Reader(catalogue, headers={"authorization": "Bearer x", "accept": "text/x"}).read()

    assert catalogue.given["Authorization"] == "Bearer x"
    assert catalogue.given["Accept"] == "text/x"


def test_header_that_cannot_be_sent_is_not_told(catalogue: Catalogue) -> None:
    with pytest.raises(SourceFailed, match="no header may have") as failure:
        Reader(catalogue, headers={"X": "canary\r\nY: 1"}).read()

    assert "canary" not in repr(failure.value)
    assert failure.value.__cause__ is None


def test_list_of_items_is_read_again_and_again(catalogue: Catalogue) -> None:
    catalogue.answer = lambda _path, _query: {"items": [{"key": "a", "tile": "T"}, {"key": 7}]}
    reader = Reader(catalogue, query={"type": "L1C", "n": 3})
    first = reader.read()
    assert [(one.key, one.fields) for one in first.items] == [
        ("a", {"key": "a", "tile": "T"}),
        ("7", {"key": "7"}),
    ]
    assert not first.more
    assert reader.keys() == ["a", "7"]
    assert catalogue.asked == [{"type": "L1C", "n": "3"}] * 2


@pytest.mark.parametrize("name", ["next", "cursor", "next_cursor"])
def test_pages_are_read_one_after_another(catalogue: Catalogue, name: str) -> None:
    pages = {None: (["a", "b"], "p2"), "p2": (["c"], "p3"), "p3": (["d"], None)}

    def answer(_path: str, query: dict[str, str]) -> Any:  # noqa: ANN401
        keys, following = pages[query.get("cursor")]
        return {"items": [{"key": key} for key in keys], name: following}

    catalogue.answer = answer
    reader = Reader(catalogue, query={"x": "1"})
    found = [reader.read() for _ in range(4)]
    keys = [[one.key for one in reading.items] for reading in found]
    assert keys == [["a", "b"], ["c"], ["d"], ["a", "b"]]
    assert [reading.more for reading in found] == [True, True, False, True]
    assert [one.get("cursor") for one in catalogue.asked] == [None, "p2", "p3", None]
    assert all(one["x"] == "1" for one in catalogue.asked)


def test_links_lead_on_but_never_to_another_host(catalogue: Catalogue) -> None:
    catalogue.answer = lambda path, _query: {
        "items": [{"key": path}],
        "next": "/two?x=1" if path == "/search" else None,
    }
    reader = Reader(catalogue)
    assert [reader.keys(), reader.keys()] == [["/search"], ["/two"]]
    catalogue.answer = lambda _path, _query: {"items": [{"key": "a"}], "next": "http://other/x"}
    reader.keys()
    with pytest.raises(SourceFailed, match="another host"):
        reader.read()


def test_feed_that_has_nothing_yet_is_asked_from_the_same_place(catalogue: Catalogue) -> None:
    catalogue.answer = lambda _path, query: (
        {"items": [], "cursor": "5"}
        if query.get("cursor") == "5"
        else {"items": [{"key": "a"}], "cursor": "5"}
    )
    reader = Reader(catalogue)
    found = [reader.read() for _ in range(3)]
    assert [reading.more for reading in found] == [True, False, False]
    assert [one.get("cursor") for one in catalogue.asked] == [None, "5", "5"]


def test_empty_page_in_the_middle_hides_no_later_one(catalogue: Catalogue) -> None:
    """Catalogues that look for matches page by page answer so; one that never ends is left."""
    pages = {"": ["a"], "1": [], "2": ["b"]}

    def answer(_path: str, query: dict[str, str]) -> Any:  # noqa: ANN401
        page = query.get("cursor", "")
        found = [{"key": key, "at": "2026-01-01"} for key in pages.get(page, [])]
        return {"items": found, "next": str(int(page or 0) + 1)}

    catalogue.answer = answer
    reader = Reader(catalogue, cursor={"field": "at", "first": "7d"})
    read = [reader.read() for _ in range(3)]
    assert [[item.key for item in one.items] for one in read] == [["a"], [], ["b"]]
    assert all(one.more for one in read)
    assert [reader.read().more for _ in range(EMPTY_PAGES_MAX)][-2:] == [True, False]
    assert reader.cursor["page"] is None


def test_dates_lead_on_with_an_overlap(catalogue: Catalogue) -> None:
    """In any order, without zone or in the future, which would hide what is yet to come."""
    day = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
    future = datetime.now(UTC) + timedelta(days=9)
    catalogue.answer = lambda _path, _query: {
        "hits": {
            "all": [
                {"id": "late", "at": day.isoformat()},
                {"id": "early", "at": (day - timedelta(hours=5)).replace(tzinfo=None).isoformat()},
                {"id": "future", "at": future.isoformat()},
                {"id": "zero", "at": "0001-01-01T00:00:00Z"},
            ]
        }
    }
    reader = Reader(
        catalogue,
        items="hits.all",
        dedupe="${item.id}/nrt",
        cursor={"field": "at", "first": "7d", "overlap": "1h", "parameter": "after"},
    )
    assert reader.keys() == ["zero/nrt", "early/nrt", "late/nrt", "future/nrt"]
    reader.keys()
    first, second = (datetime.fromisoformat(one["after"]) for one in catalogue.asked)
    assert abs(datetime.now(UTC) - timedelta(days=7) - first) < timedelta(minutes=5)
    assert second == day - timedelta(hours=1)
    catalogue.answer = lambda *_: {"items": [{"key": "zero", "at": "0001-01-01T00:00:00Z"}]}
    reader = Reader(catalogue, cursor={"field": "at"})
    assert [reader.keys(), reader.keys()] == [["zero"], ["zero"]]


def test_numbers_lead_on_with_an_overlap_that_is_one(catalogue: Catalogue) -> None:
    many = [{"key": "a", "n": 70}, {"key": "refused", "n": 2**63}]
    catalogue.answer = lambda _path, _query: {"items": many}
    cursor: dict[str, Any] = {"field": "n", "first": "3", "overlap": 9}
    reader = Reader(catalogue, cursor=cursor)
    assert [reader.keys(), reader.keys()] == [["a", "refused"]] * 2
    assert [one["since"] for one in catalogue.asked] == ["3", "61"]
    cursor["overlap"] = "1h"
    with pytest.raises(SourceFailed, match="cursor: overlap: n is a number: write one"):
        reader.read()


def test_items_without_a_key_are_shown_with_the_reason(catalogue: Catalogue) -> None:
    catalogue.answer = lambda _path, _query: {"items": [{"a": 1}, 3, {"key": "good"}]}
    found = Reader(catalogue).read().items
    assert [one.error for one in found] == [
        "it has no key, which its key needs",
        "it is not a JSON object",
        "",
    ]
    assert found[0].key.startswith("without key ")


@pytest.mark.parametrize(
    ("status", "headers", "wait_s"),
    [
        (429, {"Retry-After": "7"}, 7.0),
        (429, {}, 60.0),
        (503, {"Retry-After": "3"}, 3.0),
        (500, {}, None),
        (302, {"Location": "http://169.254.169.254/"}, None),
    ],
)
def test_server_that_refuses_says_how_long_to_wait(
    catalogue: Catalogue, status: int, headers: dict[str, str], wait_s: float | None
) -> None:
    catalogue.status, catalogue.headers = status, headers
    with pytest.raises(SourceFailed, match=f"answers with {status}") as refused:
        Reader(catalogue).read()
    assert refused.value.retry_after_s == wait_s


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "is not JSON"),
        (b"[]", "is not a JSON object"),
        (b'{"items": 3}', "has no list 'items'"),
        (b"[" * 100_000, "is not JSON"),
        (b" " * (9 << 20), "more than 8 MiB"),
    ],
)
def test_answers_that_are_none_are_failures(catalogue: Catalogue, body: bytes, why: str) -> None:
    catalogue.answer = lambda _path, _query: body
    with pytest.raises(SourceFailed, match=why):
        Reader(catalogue).read()


def test_parameter_that_nobody_has_set_is_named(catalogue: Catalogue) -> None:
    reader = Reader(catalogue, cursor={"field": "at", "first": "${param.search_first}"})
    with pytest.raises(SourceFailed, match="no parameter search_first"):
        reader.read()
