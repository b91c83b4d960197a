-- _record_worker_change: record that a worker has a new state, who wanted that and why. The newest 100
--   changes are kept.
-- Safe to repeat: no.
-- Locks: worker (by the caller).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._record_worker_change(
    of_worker_id int, state text, actor text, reason text, at timestamptz
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO weft.worker_change (worker_id, at, state, actor, reason)
    VALUES (
        of_worker_id,
        _record_worker_change.at,
        _record_worker_change.state,
        _record_worker_change.actor,
        _record_worker_change.reason
    );
    DELETE FROM weft.worker_change c
    WHERE c.worker_id = of_worker_id
        AND c.change_id <= (
            SELECT x.change_id
            FROM weft.worker_change x
            WHERE x.worker_id = of_worker_id
            ORDER BY x.change_id DESC
            OFFSET 100
            LIMIT 1
        );
$$;
