-- _worker_state: the state of a worker in one word, given its newest incarnation. Silent: nothing was heard
--   of it for half a minute, and what it runs goes on elsewhere.
-- Safe to repeat: yes, it only reads a clock.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._worker_state(w weft.worker, i weft.worker_incarnation) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN (i).ended_at IS NOT NULL THEN CASE WHEN (w).deleted_at IS NULL THEN 'lost' ELSE 'deleted' END
        WHEN (w).draining OR (i).draining THEN 'draining'
        WHEN (w).cordoned_at IS NOT NULL THEN 'cordoned'
        WHEN (i).outlives AND (i).heartbeat_at < clock_timestamp() - interval '30 seconds' THEN 'silent'
        ELSE 'active'
    END
$$;
