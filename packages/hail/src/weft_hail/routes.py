"""What the api serves of this door."""

from typing import Final

from weft.api.http.doors import ApiDoor
from weft.api.http.routing import routes_in
from weft_hail import batch_routes, billing_routes, job_routes, site_routes
from weft_hail.batch_routes import API, SECOND
from weft_hail.requests import refuse

SERVED: Final = ApiDoor(
    name="hail",
    routes=routes_in(batch_routes, job_routes, billing_routes, site_routes),
    paths=(API, SECOND),
    refuse=refuse,
)
