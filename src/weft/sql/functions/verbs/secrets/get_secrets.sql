-- get_secrets: secrets that attempts of a worker are to get: those of the user of their batch. Names stand
--   beside the attempts.
-- Plan: jobs, batches and secrets by key.
-- Returns: one row per name, in their order: whether this worker has the attempt, and if so the owner; body
--   is NULL if there is none.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.get_secrets(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], names text[]
) RETURNS TABLE (is_owner boolean, tenant_id int, user_id int, body bytea) LANGUAGE sql STABLE AS $$
    SELECT f.batch_id IS NOT NULL, f.tenant_id, f.user_id, s.body
    FROM unnest(get_secrets.batch_ids, get_secrets.job_ids, get_secrets.attempts, get_secrets.names)
        WITH ORDINALITY AS w (batch_id, job_id, attempt, name, position)
    LEFT JOIN LATERAL (
        SELECT b.batch_id, b.tenant_id, b.user_id
        FROM weft.job j
        JOIN weft.batch b
        USING (batch_id)
        WHERE j.batch_id = w.batch_id
            AND j.job_id = w.job_id
            AND j.attempt = w.attempt
            AND j.state = STATE_RUNNING
            AND j.incarnation_id = get_secrets.incarnation_id
        OFFSET 0
    ) f ON true
    LEFT JOIN LATERAL (
        SELECT s.body FROM weft.secret s WHERE s.user_id = f.user_id AND s.name = w.name OFFSET 0
    ) s ON true
    ORDER BY w.position
$$;
