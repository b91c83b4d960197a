"""The answers about queries."""

from msgspec import Struct


class Plan(Struct, kw_only=True):
    """How a query would run (`explain=true`)."""

    sql: str
    plan: list[str]
