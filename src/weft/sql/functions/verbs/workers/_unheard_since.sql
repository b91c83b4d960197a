-- _unheard_since: since when nothing is heard of the worker that has a running job, if that is `silent` and
--   what it runs goes on elsewhere, or if it is linked and should have beaten by now (`reconnects`).
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unheard_since(
    of_incarnation_id int, OUT silent timestamptz, OUT reconnects timestamptz
) LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT
        CASE WHEN i.outlives AND weft._worker_state(w, i) = 'silent' THEN i.heartbeat_at END,
        CASE
            WHEN i.token_id IS NOT NULL
                AND NOT i.outlives
                AND i.ended_at IS NULL
                AND i.heartbeat_at < clock_timestamp() - 1.2 * SETTING_HEARTBEAT_S * interval '1 second'
                THEN i.heartbeat_at
        END
    FROM weft.worker_incarnation i
    JOIN weft.worker w
    USING (worker_id)
    WHERE i.incarnation_id = of_incarnation_id
$$;
