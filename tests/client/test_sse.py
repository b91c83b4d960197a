from hypothesis import given
from hypothesis import strategies as st

from weft.client.http.sse import EventParser, ServerEvent

STREAM = (
    b": connected\n\n"
    b'id: 7-1\nevent: jobs.success\ndata: {"a":\ndata: 1}\n\n'
    b"data:no space\r\n\r\n"
    b"id: 7-2\n\n"
    b"event: end\rdata: caf\xc3\xa9\r\r"
    b"data: torn"
)
EXPECTED = [
    ServerEvent("jobs.success", '{"a":\n1}', "7-1"),
    ServerEvent("message", "no space", "7-1"),
    ServerEvent("end", "café", "7-2"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_events_do_not_depend_on_where_the_stream_is_cut(cuts: list[int]) -> None:
    parser = EventParser()
    ends = sorted(cuts)
    found = []
    for start, end in zip([0, *ends], [*ends, len(STREAM)], strict=True):
        found += parser.feed(STREAM[start:end])

    assert found == EXPECTED


def test_an_id_without_data_is_remembered() -> None:
    parser = EventParser()

    assert parser.feed(b"id: 3-4\n: connected\n\n") == []
    assert parser.last_id == "3-4"


def test_the_last_id_goes_on_in_the_next_connection() -> None:
    assert EventParser("3-4").feed(b"data: x\n\n") == [ServerEvent("message", "x", "3-4")]
