"""Formats of others: traces of SWF and workflows of Pegasus."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.errors import ParentCycle
from weft.core.graph.dax import DaxReader, UnreadableWorkflow, Workflow
from weft.core.swf import TraceJob, UnreadableTrace, read_trace

JOB = "7 100 -1 60 4 -1 2048 8 90 -1 1 3 1 12 0 -1 -1 -1"


def test_a_line_is_a_job() -> None:
    trace = read_trace(["; Version: 2.2", "", f"  {JOB}  "], name="t.swf")

    assert trace.jobs == [
        TraceJob(
            number=7,
            submit_s=100,
            run_s=60,
            cpu_m=4000,
            memory_mib=8,
            user=3,
            limit_s=90,
            application=12,
        )
    ]


def test_what_a_trace_does_not_know_has_a_usual_value() -> None:
    trace = read_trace(["1 0 -1 5 -1 -1 -1 2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"], name="t.swf")

    assert trace.jobs == [
        TraceJob(number=1, submit_s=0, run_s=5, cpu_m=2000, memory_mib=1, user=-1, limit_s=5)
    ]


def test_jobs_are_in_the_order_of_their_submission_and_those_that_never_ran_are_left_out() -> None:
    lines = [
        JOB,
        JOB.replace("7 100", "8 50"),
        JOB.replace("7 100 -1 60", "9 60 -1 -1"),
        JOB.replace(" 4 -1 2048 8 ", " 0 -1 2048 -1 "),
    ]
    trace = read_trace(lines, name="t.swf")

    assert [job.number for job in trace.jobs] == [8, 7]
    assert trace.n_left_out == 2


@cases(
    ("line", "why"),
    [
        ("1 2 3", "It has 3 of 18 words"),
        (f"{JOB} 1", "It has 19 of 18 words"),
        (JOB.replace("60", "sixty"), "Not all are numbers"),
        (JOB.replace("60", "nan"), "Not all are numbers"),
        (JOB.replace("60", "1e300"), "Not all are numbers"),
    ],
)
def test_another_line_is_refused_with_its_place(line: str, why: str) -> None:
    with pytest.raises(UnreadableTrace) as refused:
        read_trace(["; x", JOB, line], name="t.swf")

    assert refused.value.message == "t.swf:3 is not a job in the Standard Workload Format"
    assert refused.value.detail.startswith(why)


@pytest.mark.parametrize("change", [("7 100", "7 -100"), (" 4 ", " 4000000 ")])
def test_impossible_jobs_are_refused_with_their_place(change: tuple[str, str]) -> None:
    with pytest.raises(UnreadableTrace, match=r"^t\.swf:1 has a job"):
        read_trace([JOB.replace(*change)], name="t.swf")


def test_an_empty_trace_is_refused() -> None:
    with pytest.raises(UnreadableTrace, match=r"t\.swf has no jobs"):
        read_trace(["; nothing"], name="t.swf")
    with pytest.raises(UnreadableTrace, match="1 jobs, none of which ran"):
        read_trace([JOB.replace("-1 60", "-1 -1")], name="t.swf")


DIAMOND = """<?xml version="1.0" encoding="UTF-8"?>
<!-- generated -->
<adag xmlns="http://pegasus.isi.edu/schema/DAX" name="diamond" jobCount="4">
  <job id="ID1" namespace="N" name="last" version="1.0" runtime="1.5"/>
  <job id="ID2" name="left" runtime="2"><uses file="a" link="input" size="9"/></job>
  <job id="ID3" name="right"/>
  <job id="ID4" name="first" runtime="0.25"/>
  <child ref="ID1"><parent ref="ID2"/><parent ref="ID3"/><parent ref="ID2"/></child>
  <child ref="ID2"><parent ref="ID4"/></child>
  <child ref="ID3"><parent ref="ID4"/></child>
</adag>
"""


def read(text: str, *, piece: int = 1 << 20) -> Workflow:
    reader, data = DaxReader(), text.encode()
    for start in range(0, len(data), piece):
        reader.feed(data[start : start + piece])
    return reader.finish()


def dag(*jobs: str, edges: str = "") -> str:
    return f"<adag>{''.join(jobs)}{edges}</adag>"


def job(name: str, more: str = "") -> str:
    return f'<job id="{name}" {more}/>'


def edge(parent: str, child: str) -> str:
    return f'<child ref="{child}"><parent ref="{parent}"/></child>'


def test_parents_come_first_and_each_once() -> None:
    found = read(DIAMOND)

    assert found.name == "diamond"
    assert [one.name for one in found.jobs] == ["ID4", "ID2", "ID3", "ID1"]
    assert found.parents == [[], ["ID4"], ["ID4"], ["ID2", "ID3"]]
    assert found.n_edges == 4
    assert [one.runtime_s for one in found.jobs] == [0.25, 2, 0, 1.5]
    assert found.jobs[3].attributes == {
        "transformation": "last",
        "namespace": "N",
        "version": "1.0",
        "runtime_s": "1.5",
    }


@given(st.integers(1, 200))
def test_it_does_not_matter_how_the_file_comes(piece: int) -> None:
    assert read(DIAMOND, piece=piece) == read(DIAMOND)


def test_prefixes_and_other_namespaces_are_no_hindrance() -> None:
    text = '<p:adag xmlns:p="urn:x"><p:job id="A"/><p:dax id="B"/>'
    text += '<p:child ref="B"><p:parent ref="A"/></p:child></p:adag>'

    found = read(text)

    assert (found.name, [one.name for one in found.jobs]) == (None, ["A", "B"])
    assert found.parents == [[], ["A"]]


def test_id_that_would_mean_an_earlier_job_gets_another_name() -> None:
    found = read(dag(job("j1"), job("b2.j3"), edges=edge("j1", "b2.j3")))

    assert [one.name for one in found.jobs] == ["job j1", "job b2.j3"]
    assert found.parents == [[], ["job j1"]]


def test_run_time_below_nothing_is_nothing() -> None:
    """The generator of the synthetic workflows writes such ones."""
    assert read(dag(job("A", 'runtime="-1.03"'))).jobs[0].runtime_s == 0


@cases(
    ("text", "why"),
    [
        ("", "Line 1: no element found"),
        ("<adag>", "Line 1: no element found"),
        ("<adag><job id='A'></adag>", "mismatched tag"),
        ("<workflow/>", "it begins with <workflow> and not with <adag>"),
        ("<adag/>", "it has no job"),
        (dag("<job/>"), "<job> has no usable id"),
        (dag(job("A" * 257)), "<job> has no usable id"),
        (dag(job("A&#9;")), "<job> has no usable id"),
        (dag(job("A"), job("A")), "two jobs with the id 'A'"),
        (dag(job("A", 'runtime="fast"')), "runtime 'fast' is not a number"),
        (dag(job("A", 'runtime="nan"')), "runtime 'nan' is not a number"),
        (dag(job("A", 'runtime="1e999"')), "runtime '1e999' is not a number"),
        (dag(job("A"), edges=edge("B", "A")), "no job has the id 'B'"),
        (dag(job("A"), edges=edge("A", "B")), "no job has the id 'B'"),
        (dag(job("A"), edges="<child ref='A'><parent/></child>"), "<parent> has no usable ref"),
        ("\n\n<adag><job id='\xff", "Line 3"),
    ],
)
def test_what_is_no_workflow_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(UnreadableWorkflow) as caught:
        read(text)

    assert why in caught.value.detail


def test_cycle_is_refused_with_its_path() -> None:
    with pytest.raises(ParentCycle) as caught:
        read(dag(job("A"), job("B"), edges=edge("A", "B") + edge("B", "A")))

    assert "A waits for B waits for A" in caught.value.errors[0].message


LAUGHS = """<!DOCTYPE adag [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<adag name="&b;"><job id="A"/></adag>"""
OUTSIDE = """<!DOCTYPE adag [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<adag><job id="A" name="&x;"/></adag>"""


@pytest.mark.parametrize(
    "text", [LAUGHS, OUTSIDE, '<!DOCTYPE adag SYSTEM "http://127.0.0.1/x.dtd"><adag/>']
)
def test_document_types_and_so_all_entities_are_refused(text: str) -> None:
    with pytest.raises(UnreadableWorkflow) as caught:
        read(text)

    assert "document type" in caught.value.detail


def test_entity_that_nobody_declared_is_refused() -> None:
    with pytest.raises(UnreadableWorkflow):
        read(dag(job("A", 'name="&x;"')))
