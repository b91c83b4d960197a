from cases import cases
from weft_siege.faults import AWAY_S, CONTROLLER, GATEWAY, apart, cut_off, plan_faults

WIRE = {"cut", "hang", "slow"}


@cases(("part", "acts"), [("broker", WIRE), ("bucket", WIRE), ("disk", {"fill"})])
def test_what_is_optional_fails_only_where_it_is(part: str, acts: set[str]) -> None:
    plain = plan_faults(3, seconds=3600, workers=3)
    more = plan_faults(3, seconds=3600, workers=3, also=[part])

    assert part not in {fault.target for fault in plain}
    assert {fault.act for fault in more if fault.target == part} == acts


def test_what_weft_up_starts_is_never_of_another_release() -> None:
    """It would migrate the database back, and starts its roles as it is itself."""
    faults = plan_faults(3, seconds=3600, workers=3, also=["other"])
    rolled_back = [fault for fault in faults if fault.act == "rollback"]

    assert {fault.target for fault in rolled_back} == set(apart(3))
    assert set(apart(3)) == {"api-2", "driver-2", "worker-2", "worker-3"}
    assert min(fault.lasts_s for fault in rolled_back) > 0


def test_a_standby_takes_over_only_where_there_is_one() -> None:
    plain = plan_faults(3, seconds=3600, workers=3)
    paired = plan_faults(3, seconds=3600, workers=3, also=["standby"])

    assert plain == plan_faults(3, seconds=3600, workers=3)
    assert "standby" not in {fault.target for fault in plain}
    assert {fault.act for fault in paired if fault.target == "standby"} == {
        "failover",
        "kill",
        "stop",
    }
    assert [fault for fault in paired if fault.act == "failover" and fault.lasts_s] == []


def test_gateway_and_controller_fail_only_where_there_is_a_slurm() -> None:
    names = {CONTROLLER, GATEWAY}
    more = plan_faults(3, seconds=3600, workers=3, also=["slurm"])

    assert not names & {fault.target for fault in plan_faults(3, seconds=3600, workers=3)}
    assert {(fault.act, fault.target) for fault in more if fault.target in names} == {
        (act, name) for act in ("kill", "stop", "restart") for name in names
    }


@cases(("workers", "outside"), [(4, "4"), (20, "19 20")])
def test_agent_and_spawner_are_never_frozen_together(workers: int, outside: str) -> None:
    """Else nobody could end what runs there when the worker is lost, and it runs twice."""
    until: dict[tuple[bool, str], float] = {}
    frozen = [
        fault
        for fault in plan_faults(2031, seconds=5_000 * workers, workers=workers)
        if fault.act in {"cut", "hang", "stop"}
        and fault.target.partition("-")[0] in {"link", "spawner", "worker"}
    ]
    assert len(frozen) > 500
    for fault in frozen:
        part, _, number = fault.target.partition("-")
        is_spawner = part == "spawner"
        for worker in outside.split() if part == "link" else [number or "1"]:
            assert until.get((not is_spawner, worker), 0.0) <= fault.at_s
            begun = until.get((is_spawner, worker), 0.0)
            until[is_spawner, worker] = max(begun, fault.at_s + fault.lasts_s)


@cases("workers", [1, 3, 20])
def test_no_spawner_is_frozen_while_the_database_is_away(workers: int) -> None:
    """But for half a second, which no agent feels."""
    frozen_until = away_until = 0.0
    n_away = 0
    for fault in plan_faults(2036, seconds=20_000, workers=workers, also=["standby"]):
        if fault.target.startswith("spawner") and fault.act == "stop":
            assert away_until <= fault.at_s
            frozen_until = max(frozen_until, fault.at_s + fault.lasts_s)
        elif fault.act == "failover" or (fault.target == "postgres" and fault.lasts_s != 0.5):
            assert frozen_until <= fault.at_s
            away_until = max(away_until, fault.at_s + fault.lasts_s + AWAY_S)
            n_away += 1
    assert n_away > 500


@cases(
    ("workers", "names"),
    [
        (1, ["driver-2"]),
        (2, ["driver-2"]),
        (3, ["driver-2", "worker-2"]),
        (20, ["driver-2", "worker-2"]),
    ],
)
def test_some_roles_lose_their_way_to_the_database(workers: int, names: list[str]) -> None:
    assert cut_off(workers) == names


def test_clocks_of_what_the_siege_starts_are_turned() -> None:
    faults = plan_faults(3, seconds=20_000, workers=3, also=["clocks"])

    assert {fault.target for fault in faults if fault.act == "clock-1h"} == set(apart(3))
