-- A worker numbers its claims and says at its heartbeats of which it has heard: what it does not hold of those has ended, and need not be
-- looked up. NULL: of a worker that does not number them, or written by a heartbeat.
ALTER TABLE weft.claim ADD COLUMN call bigint;
