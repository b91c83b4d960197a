"""How far a partition is done."""

from hypothesis import given
from hypothesis import strategies as st

from weft.core.watermark import Watermark


class Model:
    """The same by its definition, with everything that ever came."""

    def __init__(self) -> None:
        self.delivered: list[int] = []
        self.done: set[int] = set()

    @property
    def position(self) -> int | None:
        """Look at every record."""
        found = None
        for offset in self.delivered:
            if offset not in self.done:
                break
            found = offset + 1
        return found

    @property
    def in_flight(self) -> list[int]:
        """Return the offsets that are not done."""
        return [offset for offset in self.delivered if offset not in self.done]


GAPS = st.lists(st.integers(1, 4), max_size=40)
"""From each offset to the next one: transactions and compaction leave holes."""


@given(st.integers(0, 2**62), GAPS, st.data())
def test_a_position_has_nothing_behind_it_that_is_not_done(
    first: int, gaps: list[int], data: st.DataObject
) -> None:
    mark, model, following = Watermark(), Model(), first
    waiting = list(gaps)
    while waiting or model.in_flight:
        if waiting and (not model.in_flight or data.draw(st.booleans())):
            following += waiting.pop()
            assert mark.deliver(following)
            model.delivered.append(following)
        else:
            done = data.draw(st.sampled_from(model.in_flight))
            assert mark.finish(done)
            model.done.add(done)
        assert mark.position == model.position
        assert mark.smallest == next(iter(model.in_flight), None)
        assert len(mark) == len(model.in_flight)
        behind = range(model.in_flight[0], following + 1) if model.in_flight else ()
        assert mark.held_up == len(set(behind) - set(model.in_flight))


@given(st.permutations(range(30)))
def test_when_all_are_done_the_position_is_the_end(order: list[int]) -> None:
    mark = Watermark()
    for offset in range(30):
        mark.deliver(offset)
    positions = []
    for offset in order:
        mark.finish(offset)
        positions.append(mark.position or 0)

    assert positions == sorted(positions)
    assert positions[-1] == 30
    assert mark.smallest is None


def test_what_is_delivered_or_done_again_changes_nothing() -> None:
    mark = Watermark()
    mark.deliver(3)
    mark.deliver(4)
    mark.finish(4)

    assert not mark.deliver(3)
    assert not mark.deliver(4)
    assert not mark.finish(4)
    assert not mark.finish(99)
    assert (mark.position, mark.smallest, mark.held_up) == (None, 3, 1)


def test_a_record_behind_a_running_one_is_not_committed() -> None:
    mark = Watermark()
    for offset in (5, 6, 9):
        mark.deliver(offset)
    mark.finish(5)
    mark.finish(9)

    assert mark.position == 6
