-- _note_failures: note those of these jobs that just ended and failed for good.
-- Safe to repeat: yes.
-- Locks: as _add_dead_letters.
-- Plan: attempts and jobs by key, those that did not succeed.
-- causes: what the jobs said, without what differs from job to job; NULL: nothing.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_failures(
    batch_ids bigint[], job_ids int[], attempts smallint[], reasons smallint[], causes text[], at timestamptz
) RETURNS void LANGUAGE sql AS $$
    SELECT weft._add_dead_letters(
        array_agg(t.b),
        array_agg(t.j),
        array_agg(a.reason),
        array_agg(a.exit_code),
        array_agg(a.signal),
        array_agg(
            CASE
                WHEN a.reason = REASON_LOST THEN split_part(a.message, ',', 1)
                ELSE coalesce(t.cause, left(a.message, 200))
            END
        ),
        _note_failures.at
    )
    FROM unnest(
        _note_failures.batch_ids,
        _note_failures.job_ids,
        _note_failures.attempts,
        _note_failures.reasons,
        causes
    ) t (b, j, n, reason, cause)
    CROSS JOIN LATERAL (
        SELECT x.* FROM weft.attempt x WHERE x.batch_id = t.b AND x.job_id = t.j AND x.attempt = t.n OFFSET 0
    ) a
    CROSS JOIN LATERAL (
        SELECT x.attempt, x.state FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0
    ) j
    WHERE t.reason IS NOT NULL
        AND a.state IN (STATE_FAILED, STATE_ERROR)
        AND j.attempt = t.n
        AND j.state = a.state
$$;
