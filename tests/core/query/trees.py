"""Trees as the parser makes them."""

import re
from datetime import UTC, datetime

from hypothesis import strategies as st

from weft.core.query.fields import FIELDS, MATCHES, OPERATORS, REASONS, STATES, Kind
from weft.core.query.terms import KEYWORDS
from weft.core.query.tree import (
    AmountTerm,
    AnyTerm,
    AttributeTerm,
    Field,
    IntegerTerm,
    MissingTerm,
    Node,
    Operator,
    ReasonTerm,
    StateTerm,
    Subject,
    TextTerm,
    TimeTerm,
    all_of,
    any_of,
    negated,
)

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters='\0()"=!<>~'), min_size=1, max_size=12
).filter(lambda text: text.lower() not in KEYWORDS and not re.search(r"\s|^[bj][0-9]+$", text))


def _of_field(subject: Subject, field: Field, kind: Kind) -> st.SearchStrategy[Node]:
    operators = st.sampled_from(OPERATORS[kind])
    at_field = st.just(field)
    match kind:
        case Kind.STATE:
            return st.builds(StateTerm, operators, st.sampled_from(STATES[subject]))
        case Kind.REASON:
            return st.one_of(
                st.builds(MissingTerm, at_field, operators),
                st.builds(ReasonTerm, operators, st.sampled_from(sorted(REASONS))),
            )
        case Kind.SIGNAL:
            return st.one_of(
                st.builds(MissingTerm, at_field, operators),
                st.builds(IntegerTerm, at_field, operators, st.integers(0, 64)),
            )
        case Kind.INTEGER:
            return st.builds(IntegerTerm, at_field, operators, st.integers(-(10**17), 10**17))
        case Kind.INTEGER_OR_NULL:
            missing = st.sampled_from([Operator.EQ, Operator.NE])
            return st.one_of(
                st.builds(MissingTerm, at_field, missing),
                st.builds(IntegerTerm, at_field, operators, st.integers(-300, 300)),
            )
        case Kind.AMOUNT:
            numbers = st.floats(allow_nan=False, allow_infinity=False)
            return st.builds(AmountTerm, at_field, operators, numbers)
        case Kind.TIME:
            moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001
                lambda at: at.replace(tzinfo=UTC)
            )
            return st.builds(TimeTerm, at_field, operators, moments)
        case Kind.TEXT:
            return st.builds(TextTerm, at_field, operators, TEXTS)


def terms(subject: Subject) -> st.SearchStrategy[Node]:
    """Return terms of every kind."""
    return st.one_of(
        *[_of_field(subject, field, kind) for field, kind in FIELDS[subject].items()],
        st.builds(AttributeTerm, TEXTS, st.sampled_from(MATCHES), TEXTS),
        st.builds(AnyTerm, st.just(Operator.EQ), TEXTS),
        st.builds(AnyTerm, st.just(Operator.CONTAINS), WORDS),
    )


def trees(subject: Subject) -> st.SearchStrategy[Node]:
    """Return trees of some levels."""
    return st.recursive(
        terms(subject),
        lambda inner: st.one_of(
            inner.map(negated),
            st.lists(inner, min_size=2, max_size=4).map(lambda nodes: all_of(tuple(nodes))),
            st.lists(inner, min_size=2, max_size=4).map(lambda nodes: any_of(tuple(nodes))),
        ),
        max_leaves=12,
    )
