"""From the tree of a query to one statement: fixed fragments, and every value a bound parameter.

The one place with text of queries beside `weft/sql/`. Nothing that a user wrote is ever part of
a statement: words choose a fragment, values are bound. Must not run anything: `store/queries.py`
does.
"""

from weft.store.query_sql.batches import select_batches
from weft.store.query_sql.fragments import Statement
from weft.store.query_sql.jobs import select_jobs
from weft.store.query_sql.products import select_door_jobs, select_products
from weft.store.query_sql.sorted_batches import sort_batches

__all__ = [
    "Statement",
    "select_batches",
    "select_door_jobs",
    "select_jobs",
    "select_products",
    "sort_batches",
]
