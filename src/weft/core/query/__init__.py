"""The query language for jobs and batches (docs/guides/queries.md): from text to a tree.

Owns the grammar, the words and their types, and what a wrong query is told. Must not know SQL:
`store/query_sql/` turns the tree into it.
"""

from weft.core.query.printed import print_query
from weft.core.query.tree import EVERYTHING, Node, Subject, all_of

__all__ = ["EVERYTHING", "Node", "Subject", "all_of", "parse_query", "print_query"]


def parse_query(text: str, subject: Subject, **limits: int) -> Node:
    """Return the tree of a query, see `parse`; the parser is loaded for the first one."""
    from weft.core.query import parse  # noqa: PLC0415 (120 ms, and roles start without)

    return parse.parse_query(text, subject, **limits) if text else EVERYTHING
