-- _worker_state: the state of a worker in one word, given its newest incarnation.
-- Called by: _worker_documents, _lock_worker.   Safe to repeat: yes, it only computes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._worker_state(w weft.worker, i weft.worker_incarnation) RETURNS text LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE WHEN (i).ended_at IS NOT NULL THEN CASE WHEN (w).deleted_at IS NULL THEN 'lost' ELSE 'deleted' END
                WHEN (w).draining OR (i).draining THEN 'draining'
                WHEN (w).cordoned_at IS NOT NULL THEN 'cordoned'
                ELSE 'active' END
$$;
