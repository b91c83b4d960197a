"""Calls that are written by hand, and that clients and `Api` have alike."""

from weft.client.http.app_routes import AppRoutes
from weft.client.http.browser_routes import BrowserRoutes
from weft.client.http.fleet_routes import FleetRoutes
from weft.client.http.query_routes import QueryRoutes
from weft.client.http.schedule_routes import ScheduleRoutes
from weft.client.http.tenant_routes import TenantRoutes
from weft.client.http.usage_routes import UsageRoutes


class ClientRoutes(
    AppRoutes, BrowserRoutes, FleetRoutes, QueryRoutes, ScheduleRoutes, TenantRoutes, UsageRoutes
):
    """What clients ask as `Api` does."""
