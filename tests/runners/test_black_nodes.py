"""Nodes behind a gateway on which attempts fail at once are avoided for a time."""

from weft.core.scheduling.black_holes import FIRST_S
from weft.core.states import AttemptKey, Reason
from weft.plugins.runners.remote.black_nodes import BlackNodes
from weft.ports.runner import Ended

S = 1_000_000_000


class Site:
    def __init__(self) -> None:
        self.now = 1000.0
        self.nodes = BlackNodes(lambda: self.now)

    def end(self, node: str, *, count: int = 1, reason: Reason | None, ran_s: int = 1) -> None:
        for number in range(count):
            self.now += 1
            key = AttemptKey(1 + number % 4, 1 + number, 1)
            self.nodes.ended(node, Ended(key, S, S + ran_s * S, reason))


def test_node_is_avoided_for_a_time_and_longer_the_next_time() -> None:
    site = Site()
    site.end("n1", count=9, reason=Reason.EXIT)
    site.end("n2", reason=None)
    assert site.nodes.avoided() == {}
    site.end("n1", reason=Reason.EXIT)
    assert site.nodes.avoided() == {"n1": FIRST_S}
    news = site.nodes.news()
    assert news is not None
    assert news.avoided is not None
    assert [(one.node, one.seconds) for one in news.avoided] == [("n1", FIRST_S)]
    assert "failed at once here" in news.avoided[0].reason
    assert site.nodes.news() is None
    site.now += FIRST_S
    assert site.nodes.avoided() == {}
    site.end("n2", reason=None)
    site.end("n1", count=5, reason=Reason.EXIT)
    site.end("n2", reason=None)
    site.end("n1", count=5, reason=Reason.EXIT)
    assert site.nodes.avoided() == {"n1": 2 * FIRST_S}
    site.now += 2 * FIRST_S
    site.end("n1", reason=None)
    site.end("n2", reason=None)
    site.end("n1", count=5, reason=Reason.EXIT)
    site.end("n2", reason=None)
    site.end("n1", count=5, reason=Reason.EXIT)
    assert site.nodes.avoided() == {"n1": FIRST_S}


def test_nothing_is_avoided_that_fails_everywhere_late_or_for_other_reasons() -> None:
    """A bad batch, long attempts, cancels; and no node at all."""
    everywhere, late, told, none = Site(), Site(), Site(), Site()
    for _ in range(4):
        everywhere.end("n1", count=4, reason=Reason.EXIT)
        everywhere.end("n2", count=4, reason=Reason.EXIT)
        for site in (late, told, none):
            site.end("n2", reason=None)
        late.end("n1", count=5, reason=Reason.EXIT, ran_s=60)
        told.end("n1", count=5, reason=Reason.CANCELLED)
        none.end("", count=5, reason=Reason.EXIT)

    assert [dict(one.nodes.avoided()) for one in (everywhere, late, told, none)] == [{}] * 4
