"""Names of ways to plan in the heads of SQL functions."""

import pytest

from weft.sql import files_of
from weft.sql.names import PROFILES, with_profiles


def test_name_stands_for_settings() -> None:
    assert with_profiles("PLAN_ONCE AS") == "SET plan_cache_mode = force_generic_plan AS"


def test_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        with_profiles("PLAN_TWICE")


def test_each_profile_is_used_and_none_is_spelled_out() -> None:
    sources = [one.source for one in files_of("functions")]
    spelled = {
        name
        for name, settings in PROFILES.items()
        for source in sources
        if len(settings) > 1 and all(f"SET {one}" in source for one in settings)
    }

    assert {name for name in PROFILES if not any(name in one for one in sources)} == set()
    assert spelled == set()


def test_what_only_reads_compares_the_term_and_locks_nothing() -> None:
    """A lock of the term has to be committed, which waits for the disk."""
    locking = [
        one.name
        for one in files_of("functions")
        if "yes, it only reads" in one.source and "weft._check_epoch(" in one.source
    ]

    assert locking == ["_check_term"], locking
