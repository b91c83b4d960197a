"""A picture of dependencies, as SVG or in the languages of Mermaid and Graphviz."""

from collections.abc import Callable, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from weft.core.pictures.graph import COUNTS, Graph, GraphNode, counts_of, label_of
from weft.core.pictures.layout import WIDTH, Layout, Point, lay_out
from weft.core.pictures.svg import (
    add,
    add_mark,
    add_text,
    add_text_within,
    new_picture,
    number,
    written,
)
from weft.core.text.texts import harmless

NODE_HEIGHT: Final = 46.0
_BAR: Final = 5.0
_PADDING: Final = 10.0
_MARK: Final = 18.0
_BELOW: Final = 22.0
_THICK_MAX: Final = 3.0
_MERMAID_STYLES: Final = {
    "success": "stroke:#1a7f37",
    "failed": "stroke:#b42318,stroke-width:3px",
    "error": "stroke:#8b1e6b,stroke-width:3px",
    "cancelled": "stroke:#6e7781,stroke-dasharray:2 3",
    "running": "stroke:#0a5ca8",
    "creating": "stroke:#0a5ca8",
    "queued": "stroke:#9a6700,stroke-dasharray:4 3",
    "ready": "stroke:#9a6700,stroke-dasharray:4 3",
    "blocked": "stroke:#9a6700",
    "pending": "stroke:#8c959f,stroke-dasharray:4 3",
}
_DOT_STYLES: Final = {
    "success": 'color="#1a7f37"',
    "failed": 'color="#b42318", penwidth=3',
    "error": 'color="#8b1e6b", penwidth=3',
    "cancelled": 'color="#6e7781", style=dotted',
    "running": 'color="#0a5ca8"',
    "creating": 'color="#0a5ca8"',
    "queued": 'color="#9a6700", style=dashed',
    "ready": 'color="#9a6700", style=dashed',
    "blocked": 'color="#9a6700"',
    "pending": 'color="#8c959f", style=dashed',
}


def draw_svg(
    graph: Graph,
    *,
    alone: bool,
    link: Callable[[GraphNode], str] | None = None,
    is_begin: bool = False,
) -> str:
    """Return the picture as SVG. `link`: where a node leads; `is_begin`: it says that it shows the
    first nodes only.
    """
    positions = {node.id: i for i, node in enumerate(graph.nodes)}
    layout = lay_out(
        len(graph.nodes),
        [(positions[edge.parent], positions[edge.child]) for edge in graph.edges],
        NODE_HEIGHT,
    )
    height = layout.height + _BELOW * is_begin
    svg = new_picture(layout.width, height, f"Dependencies in b{graph.batch_id}")
    if is_begin:
        add_text(svg, "the first ones; there are more", _PADDING, height - _PADDING, "small")
    _add_edges(svg, graph, layout)
    for node, position in zip(graph.nodes, layout.positions, strict=True):
        _add_node(svg, node, position, link)
    return written(svg, alone=alone)


def _add_edges(svg: Element, graph: Graph, layout: Layout) -> None:
    marker = add(
        add(svg, "defs"),
        "marker",
        id="arrow",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto-start-reverse",
        markerUnits="userSpaceOnUse",
    )
    add(marker, "path", "arrow", d="M0 0 L8 4 L0 8 Z")
    for edge, line in zip(graph.edges, layout.lines, strict=True):
        if line:
            thick = min(1 + len(str(edge.n_edges)) / 2 - 0.5, _THICK_MAX)
            add(svg, "path", "edge", d=_curve(line), stroke_width=thick, marker_end="url(#arrow)")


def _curve(line: Sequence[Point]) -> str:
    """Return a line that leaves each point horizontally."""
    (x, y), *rest = line
    parts = [f"M{number(x)} {number(y)}"]
    for to_x, to_y in rest:
        if to_y == y:
            parts.append(f"H{number(to_x)}")
        else:
            middle = number((x + to_x) / 2) if to_x > x else number(x + 40)
            behind = middle if to_x > x else number(to_x - 40)
            parts.append(
                f"C{middle} {number(y)} {behind} {number(to_y)} {number(to_x)} {number(to_y)}"
            )
        x, y = to_x, to_y
    return " ".join(parts)


def _add_node(
    svg: Element, node: GraphNode, position: Point, link: Callable[[GraphNode], str] | None
) -> None:
    parent = svg if link is None else add(svg, "a", href=link(node))
    left, top = position
    group = add(
        parent, "g", f"s-{node.state}", transform=f"translate({number(left)} {number(top)})"
    )
    full = f"{label_of(node)}: {counts_of(node)}"
    add(group, "title").text = harmless(full)
    stacked = node.kind != "job"
    if stacked:
        add(group, "rect", "box", x=4, y=4, width=WIDTH, height=NODE_HEIGHT, rx=6)
    add(group, "rect", "box", width=WIDTH, height=NODE_HEIGHT, rx=6 if stacked else 14)
    add_mark(group, node.state, _PADDING, 9)
    room = WIDTH - 2 * _PADDING - _MARK
    add_text_within(group, label_of(node), room, _PADDING + _MARK, 19)
    add_text_within(group, counts_of(node), room, _PADDING + _MARK, 33, "small")
    if stacked:
        _add_bar(group, node)


def _add_bar(group: Element, node: GraphNode) -> None:
    x, room = _PADDING, WIDTH - 2 * _PADDING
    for state in COUNTS:
        if n := node.states.get(state, 0):
            part = add(group, "g", f"s-{state}")
            width = room * n / node.n_jobs
            add(part, "rect", "part", x=x, y=NODE_HEIGHT - _BAR - 3, width=width, height=_BAR)
            x += width


def write_mermaid(graph: Graph) -> str:
    """Return the picture in the language of Mermaid."""
    lines = ["flowchart LR"]
    for node in graph.nodes:
        text = "<br/>".join(map(_mermaid_text, (label_of(node), counts_of(node))))
        left, right = ("([", "])") if node.kind == "job" else ("[[", "]]")
        lines.append(f'  {node.id}{left}"{text}"{right}:::{node.state}')
    lines += [f"  {edge.parent} --> {edge.child}" for edge in graph.edges]
    used = dict.fromkeys(node.state for node in graph.nodes)
    lines += [f"  classDef {state} {_MERMAID_STYLES[state]}" for state in used]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Write what has a meaning in Mermaid or HTML by its number."""
    return "".join(
        one if one.isalnum() or one in " .,:/_-×" else f"#{ord(one)};" for one in harmless(text)
    )


def write_dot(graph: Graph) -> str:
    """Return the picture in the language of Graphviz."""
    lines = [f'digraph "b{graph.batch_id}" {{', "  rankdir=LR", "  node [shape=box]"]
    for node in graph.nodes:
        text = "\\n".join(map(_dot_text, (label_of(node), counts_of(node))))
        shape = "" if node.kind == "job" else ", peripheries=2"
        lines.append(f'  {node.id} [label="{text}", {_DOT_STYLES[node.state]}{shape}]')
    lines += [f"  {edge.parent} -> {edge.child}" for edge in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    return harmless(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
