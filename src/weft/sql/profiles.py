"""Ways in which PostgreSQL shall plan the statements of a function, by name.

A head says `PLAN_BY_KEY PLAN_ONCE`; PostgreSQL gets the settings of the planner that they stand
for. A function that needs a setting beside them, or only one, names it.
"""

import re
from types import MappingProxyType
from typing import Final

_BY_INDEX: Final = ("enable_seqscan = off", "enable_hashjoin = off", "enable_mergejoin = off")

PROFILES: Final = MappingProxyType(
    {
        # Tables grow, statistics of small ones mislead: rows are found by indexes, one by one.
        "PLAN_BY_INDEX": _BY_INDEX,
        # The same, of few rows each: no index is read as a whole first.
        "PLAN_BY_KEY": (*_BY_INDEX, "enable_bitmapscan = off"),
        # Rows come in the order of an index, so that reading ends with the page.
        "PLAN_IN_ORDER": ("enable_seqscan = off", "enable_bitmapscan = off", "enable_sort = off"),
        # The plan is made once in a connection: planning joins takes longer than running them.
        "PLAN_ONCE": ("plan_cache_mode = force_generic_plan",),
    }
)
_NAME = re.compile(r"PLAN_(?<!\wPLAN_)[A-Z_]+\b")


def with_profiles(source: str) -> str:
    """Return the text with each name replaced by the settings that it stands for.

    Raises KeyError for a name that is none.
    """
    return _NAME.sub(lambda match: " ".join(f"SET {one}" for one in PROFILES[match[0]]), source)
