"""Why a job waits, and what became of it: facts of the store turned into sentences and commands.

`facts.py` is what the store says; `waiting.py`, `ended.py` and `group.py` decide what is said of
it, and in which order. What a kind of gate says stands where that kind is registered, not here.
"""

from weft.core.why.ended import causes_of_end
from weft.core.why.facts import EndFacts, GateFacts, GroupFacts, JobFacts, ParentFacts, PoolFacts
from weft.core.why.group import causes_of_group
from weft.core.why.sentences import Cause, GateSentence, command, group_of, name_of, sentence
from weft.core.why.waiting import causes_of_wait

__all__ = [
    "Cause",
    "EndFacts",
    "GateFacts",
    "GateSentence",
    "GroupFacts",
    "JobFacts",
    "ParentFacts",
    "PoolFacts",
    "causes_of_end",
    "causes_of_group",
    "causes_of_wait",
    "command",
    "group_of",
    "name_of",
    "sentence",
]
