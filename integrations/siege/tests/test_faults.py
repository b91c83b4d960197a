from weft_siege.faults import plan_faults


def test_the_broker_fails_only_where_there_is_one() -> None:
    plain = plan_faults(3, seconds=3600, workers=3)
    brokered = plan_faults(3, seconds=3600, workers=3, broker=True)

    assert "broker" not in {fault.target for fault in plain}
    assert {fault.act for fault in brokered if fault.target == "broker"} == {"cut", "hang", "slow"}


def test_a_standby_takes_over_only_where_there_is_one() -> None:
    plain = plan_faults(3, seconds=3600, workers=3)
    paired = plan_faults(3, seconds=3600, workers=3, standby=True)

    assert plain == plan_faults(3, seconds=3600, workers=3)
    assert "standby" not in {fault.target for fault in plain}
    assert {fault.act for fault in paired if fault.target == "standby"} == {
        "failover", "kill", "stop"
    }  # fmt: skip
    assert [fault for fault in paired if fault.act == "failover" and fault.lasts_s] == []
