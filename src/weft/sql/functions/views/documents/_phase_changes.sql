-- _phase_changes: the phases of a job's attempts, as rows of its history: claims, what engines elsewhere say,
--   starts, and where outputs are copied to.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._phase_changes(of_batch_id bigint, of_job_id int) RETURNS TABLE (
    part int,
    at timestamptz,
    from_state smallint,
    to_state smallint,
    phase smallint,
    attempt smallint,
    actor text,
    subtype text,
    message text
) LANGUAGE sql STABLE AS $$
    SELECT
        x.part, x.at, x.from_state, STATE_RUNNING::smallint, x.phase, a.attempt, 'worker ' || a.worker, NULL,
        x.message
    FROM weft._attempts(of_batch_id, of_job_id) a
    CROSS JOIN LATERAL (
        SELECT
            3 AS part,
            a.claimed_at AS at,
            STATE_READY::smallint AS from_state,
            PHASE_ASSIGNED::smallint AS phase,
            NULL AS message
        UNION ALL
        SELECT
            4,
            a.started_at,
            STATE_RUNNING,
            PHASE_EXECUTING,
            weft._note_of(of_batch_id, of_job_id, a.attempt, PHASE_EXECUTING::smallint)
        WHERE a.started_at IS NOT NULL
        UNION ALL
        SELECT
            4,
            least(n.at, CASE WHEN n.phase < PHASE_EXECUTING THEN a.started_at END, a.ended_at),
            STATE_RUNNING,
            n.phase,
            n.message
        FROM weft.attempt_note n
        WHERE (n.batch_id, n.job_id, n.attempt) = (of_batch_id, of_job_id, a.attempt)
            AND n.phase NOT IN (NOTE_OF_PROGRESS, PHASE_EXECUTING)
    ) x
$$;
