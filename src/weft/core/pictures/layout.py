"""Where the nodes of a picture stand: in layers from left to right, each to the right of its
parents, with few crossings.

Source: Sugiyama, Tagawa and Toda, 1981: layers, order by the mean of neighbours, coordinates. In
position of a linear program each layer is moved towards its neighbours by isotonic regression.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final

WIDTH: Final = 190.0
GAP_X: Final = 70.0
GAP_Y: Final = 14.0
BEND: Final = 14.0
"""The room that an edge takes where it passes a layer."""
MARGIN: Final = 12.0
SWEEPS: Final = 4
PULLS: Final = 6
BENDS_MAX: Final = 4000
"""With more positions where long edges cross layers, these edges go straight."""
LONE_COLUMNS_MIN: Final = 4
Point = tuple[float, float]
Links = Mapping[int, Sequence[int]]


@dataclass(frozen=True)
class Layout:
    """Places of nodes (left, top) and the points of edges, in the order in which they came."""

    width: float
    height: float
    positions: Sequence[Point]
    lines: Sequence[Sequence[Point]]


def lay_out(n_nodes: int, edges: Sequence[tuple[int, int]], node_height: float) -> Layout:
    """Place nodes 0 … n - 1 and the edges between them; cycles are allowed."""
    layer = _layers(n_nodes, edges)
    linked = sorted({end for edge in edges for end in edge if edge[0] != edge[1]})
    grid = _Grid(layer, linked, edges)
    y = grid.centres(node_height + GAP_Y)
    positions: list[Point] = [(0.0, 0.0)] * n_nodes
    for node in linked:
        positions[node] = (MARGIN + layer[node] * (WIDTH + GAP_X), MARGIN + y[node])
    bottom = max((top + node_height for _, top in positions if linked), default=MARGIN - GAP_Y)
    columns = max(max((layer[node] + 1 for node in linked), default=0), LONE_COLUMNS_MIN)
    lone = sorted({*range(n_nodes)}.difference(linked))
    for i, node in enumerate(lone):
        row, column = divmod(i, columns)
        top = bottom + GAP_Y * (2 if linked else 1) + row * (node_height + GAP_Y)
        positions[node] = (MARGIN + column * (WIDTH + GAP_X / 2), top)
    lines = [
        [] if parent == child else _line(positions, parent, child, bends, y, node_height)
        for (parent, child), bends in zip(edges, grid.bends, strict=True)
    ]
    right = max((left + WIDTH for left, _ in positions), default=0.0)
    down = max((top + node_height for _, top in positions), default=0.0)
    return Layout(right + MARGIN, down + MARGIN, positions, lines)


def _line(
    positions: Sequence[Point],
    parent: int,
    child: int,
    bends: Sequence[tuple[int, int]],
    y: Mapping[int, float],
    node_height: float,
) -> list[Point]:
    middle = node_height / 2
    points = [(positions[parent][0] + WIDTH, positions[parent][1] + middle)]
    for bend, at in bends:
        left, across = MARGIN + at * (WIDTH + GAP_X), MARGIN + y[bend] + middle
        points += [(left, across), (left + WIDTH, across)]
    return [*points, (positions[child][0], positions[child][1] + middle)]


def _layers(n_nodes: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each node how many edges the longest way to it has. Edges that close a cycle, as
    groups may, do not count.
    """
    children: dict[int, list[int]] = defaultdict(list)
    for parent, child in sorted(set(edges)):
        if parent != child:
            children[parent].append(child)
    order, back = _depth_first(n_nodes, children)
    layer = [0] * n_nodes
    for node in order:
        for child in children[node]:
            if (node, child) not in back:
                layer[child] = max(layer[child], layer[node] + 1)
    return layer


def _depth_first(n_nodes: int, children: Links) -> tuple[list[int], set[tuple[int, int]]]:
    """Return the nodes, parents first, and the edges that lead back."""
    done: list[int] = []
    state = [0] * n_nodes  # 1: on the way, 2: done
    back: set[tuple[int, int]] = set()
    for start in range(n_nodes):
        if state[start]:
            continue
        state[start] = 1
        stack = [(start, iter(children.get(start, ())))]
        while stack:
            node, left = stack[-1]
            child = next(left, None)
            if child is None:
                stack.pop()
                state[node] = 2
                done.append(node)
            elif state[child] == 1:
                back.add((node, child))
            elif not state[child]:
                state[child] = 1
                stack.append((child, iter(children.get(child, ()))))
    return done[::-1], back


class _Grid:
    """Layers of nodes and of bends, which are where long edges cross a layer."""

    def __init__(
        self, layer: Sequence[int], nodes: Sequence[int], edges: Sequence[tuple[int, int]]
    ) -> None:
        self.bends: list[list[tuple[int, int]]] = []
        self._rows: dict[int, list[int]] = defaultdict(list)
        self._before: dict[int, list[int]] = defaultdict(list)
        self._after: dict[int, list[int]] = defaultdict(list)
        for node in nodes:
            self._rows[layer[node]].append(node)
        crossed = sum(max(layer[child] - layer[parent] - 1, 0) for parent, child in edges)
        self._n_nodes = number = len(layer)
        for parent, child in edges:
            bends: list[tuple[int, int]] = []
            if crossed <= BENDS_MAX:
                for at in range(layer[parent] + 1, layer[child]):
                    bends.append((number, at))
                    self._rows[at].append(number)
                    number += 1
            self.bends.append(bends)
            chain = [parent, *(bend for bend, _ in bends), child]
            if layer[parent] < layer[child]:
                for one, other in pairwise(chain):
                    self._after[one].append(other)
                    self._before[other].append(one)

    def centres(self, step: float) -> dict[int, float]:
        """Return where the middle of each node and bend is, below that of the highest node."""
        layers = sorted(self._rows)
        self._order(layers)
        nodes = chain.from_iterable(self._rows.values())
        sizes = {node: step if node < self._n_nodes else BEND for node in nodes}
        y: dict[int, float] = {}
        for at in layers:
            row = self._rows[at]
            y |= zip(row, _apart([0.0] * len(row), [sizes[node] for node in row]), strict=True)
        for pull in range(PULLS):
            links = self._after if pull % 2 else self._before
            for at in layers[::-1] if pull % 2 else layers:
                row = self._rows[at]
                wanted = [_mean([y[link] for link in links[node]], y[node]) for node in row]
                y |= zip(row, _apart(wanted, [sizes[node] for node in row]), strict=True)
        top = min((y[node] + (step - size) / 2 for node, size in sizes.items()), default=0.0)
        return {node: middle - top for node, middle in y.items()}

    def _order(self, layers: Sequence[int]) -> None:
        position = {node: i for at in layers for i, node in enumerate(self._rows[at])}
        for sweep in range(SWEEPS):
            links = self._after if sweep % 2 else self._before
            for at in layers[::-1] if sweep % 2 else layers:
                wanted = sorted(
                    (
                        _mean([position[link] for link in links[node]], position[node]),
                        position[node],
                        node,
                    )
                    for node in self._rows[at]
                )
                self._rows[at] = [node for _, _, node in wanted]
                position |= {node: i for i, node in enumerate(self._rows[at])}


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _apart(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return the middles closest to the wanted ones that are in order, with room for all sizes."""
    blocks: list[tuple[float, int]] = []  # sum of what remains without the sizes, and how many
    least = [0.0]
    for size, after in pairwise(sizes):
        least.append(least[-1] + (size + after) / 2)
    for position, low in zip(wanted, least, strict=False):
        total, n = position - low, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / n:
            more, m = blocks.pop()
            total, n = total + more, n + m
        blocks.append((total, n))
    flat = [total / n for total, n in blocks for _ in range(n)]
    return [position + low for position, low in zip(flat, least, strict=False)]
