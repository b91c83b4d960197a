"""The query language for jobs and batches (docs/guides/queries.md): from text to a tree.

Owns the grammar, the words and their types, and what a wrong query is told. Must not know SQL:
`store/query_sql.py` turns the tree into it.
"""

from weft.core.query.parse import parse_query
from weft.core.query.printed import print_query
from weft.core.query.tree import EVERYTHING, Node, Subject, all_of

__all__ = ["EVERYTHING", "Node", "Subject", "all_of", "parse_query", "print_query"]
