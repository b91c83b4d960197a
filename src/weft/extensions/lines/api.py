"""The routes and pages of production lines, and the right that each needs."""

from typing import Final

from weft.api.http.parts import ApiPart
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.extensions.lines.pages import lines as pages
from weft.extensions.lines.routes import lines, sinks, sources

PART: Final = ApiPart(
    routes=(*lines.ROUTES, *sinks.ROUTES, *sources.ROUTES, *pages.ROUTES),
    rights={
        "GET /ui/lines": Right.READ,
        "GET /ui/lines/{source}": Right.READ,
        "POST /v1/batches/{b}/jobs/{j}/status": Right.WRITE,
        "GET /v1/lifecycles/{lifecycle}": Right.READ,
        "GET /v1/lines": Right.READ,
        "GET /v1/sinks/{sink}/deliveries": Right.OPERATE,
        "POST /v1/sinks/{sink}/deliveries/{message}/redeliver": Right.OPERATE,
        "POST /v1/sinks/{sink}/deliveries/{message}/decide": Right.OPERATE,
        "GET /v1/sources": Right.READ,
        "GET /v1/sources/{source}": Right.READ,
        "PATCH /v1/sources/{source}": Right.WRITE,
        "GET /v1/sources/{source}/items": Right.READ,
        "POST /v1/sources/{source}/trial": Right.WRITE,
        "POST /v1/sources/{source}/rerun": Right.WRITE,
        "DELETE /v1/setups/{setup}": Right.OPERATE,
        "GET /v1/setups/{setup}": Right.READ,
        "PUT /v1/setups/{setup}": Right.OPERATE,
    },
    permissions={"POST /v1/batches/{b}/jobs/{j}/status": Permission.EXECUTE},
)
"""What the api serves of them."""
