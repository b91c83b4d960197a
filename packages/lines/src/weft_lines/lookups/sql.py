"""The look-up `sql`: what one row of a query says, asked as sources are."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from weft.core.bounded import PAGE_DEPTH_MAX, read_json
from weft.core.deliveries.credentials import wrong_login
from weft.ports.line_kinds import LookUpKind, Mistakes
from weft.ports.lookup import ANSWER_BYTES_MAX, LookUpAway
from weft.ports.source import SourceFailed, SourceSite
from weft_lines.rules.sql import (
    Statement,
    parse_statement,
    wrong_database_url,
    wrong_query,
    wrong_values,
)
from weft_lines.sources.sql import as_json, asked


def _check(options: Mapping[str, Any], _told: bool) -> Mistakes:  # noqa: FBT001 (as all kinds)
    url = options.get("url", "")
    values = wrong_values(options["values"]) if "values" in options else ""
    return {
        "url": wrong_database_url(url) or wrong_login(str(url)),
        "values": values,
        "query": "" if values else wrong_query(options),
    }


KIND: Final = LookUpKind(("url", "query", "values"), _check)


class SqlLookUp:
    """Asks once; without a row nothing is known."""

    def look_up(self, options: Mapping[str, Any], site: SourceSite) -> object:
        """Ask once."""
        query = parse_statement(str(options["query"]))
        text = as_json(query, " LIMIT 2", f"left(to_jsonb(q)::text, {ANSWER_BYTES_MAX + 1})")
        try:
            found = asyncio.run(
                asked(options, Statement(text, query.names), options.get("values", {}), site)
            )
        except SourceFailed as error:
            raise LookUpAway(str(error), alone=error.is_wrong) from error
        if len(found) > 1:
            raise LookUpAway("the query has more than one row", alone=True)
        if found and len(found[0][0]) > ANSWER_BYTES_MAX:
            said = f"the row has more than {ANSWER_BYTES_MAX >> 10} KiB"
            raise LookUpAway(said, alone=True)
        return read_json(found[0][0], depth_max=PAGE_DEPTH_MAX) if found else None
