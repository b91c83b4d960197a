"""What the api serves of this door."""

from typing import Final

from weft.api.http.doors import ApiDoor
from weft.extensions.doors.hail import batch_routes, billing_routes, job_routes, site_routes
from weft.extensions.doors.hail.batch_routes import API, SECOND
from weft.extensions.doors.hail.refused import refuse

SERVED: Final = ApiDoor(
    name="hail",
    routes=(*batch_routes.ROUTES, *job_routes.ROUTES, *billing_routes.ROUTES, *site_routes.ROUTES),
    paths=(API, SECOND),
    refuse=refuse,
)
