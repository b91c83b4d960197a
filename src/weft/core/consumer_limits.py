"""What each consumer has in hand at most: what it has got and not settled. The rest stays with
the broker, which is asked for no more until there is room again.

A bound is what stands the load behind the consumer – a few connections to the database, a few
processes –, not what could be kept in memory.
"""

from typing import Final

OFFERS_MAX: Final = 65_535
"""Offers of jobs, of each queue: as many as a worker runs at a time, and no more than AMQP can
count.
"""
ANSWERS_MAX: Final = 200
"""Answers of foreign programs, of each tenant: they are recorded in one call."""
DEAD_MAX: Final = 20
"""Dead messages, of each tenant; they are kept one after the other."""
SUBMISSIONS_MAX: Final = 20
"""Submissions by a queue or topic, of each connection."""
INTAKE_MAX: Final = 20
"""Records of each topic of a door."""
OUTCOMES_MAX: Final = 1000
"""Records of outcomes that are read and not looked at yet."""
AHEAD: Final = 500
"""Records that wait at a member of a group, beside those in work: nobody else can have them."""
LEDGER_CALLS_MAX: Final = 2
"""Calls that note runs of records, each on a connection of its own: the others of a worker are
those of its heartbeats and real jobs. How many runs there are at a time, `topics_runs` says.
"""
