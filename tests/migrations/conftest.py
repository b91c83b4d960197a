"""What tests of migrations share."""

from contexts import async_fixture_of, connected

owner = async_fixture_of(lambda database: connected(database["admin"]))
"""A connection of the owner of the database."""
