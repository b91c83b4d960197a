import pytest

from cases import cases
from weft.core.scheduling.offers import (
    AMOUNT_MAX,
    Ask,
    Offer,
    parse_gpus,
    parse_labels,
    parse_offers,
    parse_queues,
    serves,
)
from weft.core.scheduling.time_limits import longest_in


def test_amounts_and_words_are_read() -> None:
    assert parse_offers("") == {}
    assert parse_offers(" gpu=2, matlab=03 ,region=eu|us,zone=b,") == {
        "gpu": 2, "matlab": 3, "region": ["eu", "us"], "zone": ["b"],
    }  # fmt: skip


@cases(
    "text",
    [
        "gpu", "gpu=", "=2", "gpu=-1", "gpu=1.5 2", "Gpu=1", "gpu=1,gpu=2", "region=eu|",
        "executor=slurm", "cpu=4", "memory=1", "storage=1", f"gpu={AMOUNT_MAX + 1}",
        "x=\N{ARABIC-INDIC DIGIT ONE}",
    ],
)  # fmt: skip
def test_what_no_worker_can_offer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"can offer once|neither an amount"):
        parse_offers(text)


@cases(
    ("asks", "is_served"),
    [
        ({}, True), ({"gpu": 2}, True), ({"gpu": 3}, False), ({"matlab": 1}, False),
        ({"region": "eu"}, True), ({"region": "e"}, False), ({"zone": "b"}, True),
        ({"zone": "bb"}, False), ({"gpu": "2"}, False), ({"zone": 1}, False),
        ({"region": ["mars", "us"]}, True), ({"region": ["mars"]}, False), ({"gpu": ["2"]}, False),
        ({"preemptible": "yes"}, True), ({"gpu": 1, "region": "us"}, True),
        ({"gpu": 1, "region": "mars"}, False),
    ],
)  # fmt: skip
def test_a_worker_serves_what_it_offers(asks: dict[str, Ask], is_served: bool) -> None:  # noqa: FBT001 (a parameter)
    offers: dict[str, Offer] = {"gpu": 2, "region": ["eu", "us"], "zone": "b"}

    assert serves(offers, asks) == is_served


def test_a_worker_that_may_be_taken_back_serves_jobs_that_bear_it() -> None:
    assert serves({"preemptible": ["yes"]}, {"preemptible": "yes"})
    assert not serves({"preemptible": ["yes"]}, {})


def test_queues_of_a_worker_are_names() -> None:
    assert parse_queues(" short, large,") == ["short", "large"]
    assert parse_queues("") == []
    with pytest.raises(ValueError, match="'a b' is not the name of a queue"):
        parse_queues("short,a b")


def test_a_time_limit_is_asked_of_no_worker() -> None:
    assert serves({}, {"timeout_s": "10-10"})


def test_a_worker_without_queues_serves_all() -> None:
    assert serves({}, {"queue": "short"})
    assert serves({"queue": ["short"]}, {"queue": "short"})
    assert not serves({"queue": ["short"]}, {"queue": "large"})
    assert not serves({"queue": ["short"]}, {})
    assert serves({"queue": ["short", "default"]}, {})


def test_labels_are_words_also_if_they_look_like_numbers() -> None:
    assert parse_labels(" rack=12,zone=b, zone=c") == {"rack": ["12"], "zone": ["b", "c"]}
    assert parse_labels("") == {}


@cases(
    "text", ["rack", "rack=", "=b", "Rack=b", "gpu=1", "slots=2", "executor=x", "zone=b|c", "z=é"]
)
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label"):
        parse_labels(text)


@cases(
    ("text", "ids"),
    [("auto", None), ("none", []), ("0, 1", ["0", "1"]), ("GPU-8f2c", ["GPU-8f2c"])],
)
def test_gpus_are_read(text: str, ids: list[str] | None) -> None:
    assert parse_gpus(text) == ids


@cases("text", ["", "0,", "a b", "0,0", "-1"])
def test_wrong_gpus_are_told(text: str) -> None:
    with pytest.raises(ValueError, match="GPU"):
        parse_gpus(text)


def test_a_worker_whose_machine_ends_serves_jobs_that_end_before() -> None:
    offers: dict[str, Offer] = {"timeout_s": longest_in(3780)}

    assert serves(offers, {"timeout_s": "3600-3600"})
    assert serves(offers, {"timeout_s": "30-60"})
    assert not serves(offers, {"timeout_s": "3600-7200"})
    assert not serves(offers, {"timeout_s": "86400-"})
    assert not serves(offers, {})
