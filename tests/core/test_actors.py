"""What users of other tenants are told of administrators of the site."""

import pytest

from cases import cases
from weft.core.access.actors import SITE_ADMINISTRATOR, shown_actor, shown_reason, site_actor


@cases("name", ["root", "a of tenant 7", "x of tenant 7 of tenant 8", "user root of tenant 1"])
def test_name_is_shown_in_its_own_tenant_and_to_administrators_of_the_site(name: str) -> None:
    """Whatever the name looks like: the last number is the one that was added."""
    written = site_actor(name, tenant_id=1)

    assert shown_actor(written, to_tenant_id=1) == f"user {name}"
    assert shown_actor(written, to_tenant_id=None) == f"user {name}"
    for other in (7, 8, 11):
        assert shown_actor(written, to_tenant_id=other) == SITE_ADMINISTRATOR


@pytest.mark.parametrize("by", ["weft", "autoscaler", "driver"])
def test_what_is_no_person_is_shown(by: str) -> None:
    assert shown_actor(by, to_tenant_id=5) == shown_actor(by, to_tenant_id=None) == by


def test_name_of_an_unknown_tenant_is_shown_to_administrators_of_the_site_alone() -> None:
    assert shown_actor("user root", to_tenant_id=None) == "user root"
    assert shown_actor("user root", to_tenant_id=1) == SITE_ADMINISTRATOR


@cases(
    ("reason", "of_its_tenant", "of_others"),
    [
        ("user r of tenant 1 changed its description", "user r changed its description",
         "site administrator changed its description"),
        ("user r of tenant 1 removed its description", "user r removed its description",
         "site administrator removed its description"),
        ("the owner (kim) changed the price of flavour f",
         "the owner changed the price of flavour f", "the owner changed the price of flavour f"),
        ("3 jobs wait", "3 jobs wait", "3 jobs wait"),
    ],
)  # fmt: skip
def test_reason_for_a_change_of_a_pool(reason: str, of_its_tenant: str, of_others: str) -> None:
    assert shown_reason(reason, to_tenant_id=1) == of_its_tenant
    assert shown_reason(reason, to_tenant_id=2) == of_others
    assert shown_reason("the owner (kim) x", to_tenant_id=None) == "the owner (kim) x"
