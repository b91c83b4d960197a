-- _error_change: why a job ended as an error that no attempt of it caused, and what is said of it.
-- Plan: by job_change_error_idx.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._error_change(
    of_batch_id bigint, of_job_id int, OUT reason smallint, OUT message text
) LANGUAGE sql STABLE AS $$
    SELECT
        CASE
            WHEN c.subtype IN ('machine', 'status') THEN REASON_SYSTEM
            WHEN c.subtype = 'blocked' THEN REASON_BLOCKED
            WHEN c.subtype = 'overdue' THEN REASON_OVERDUE
            WHEN c.subtype = 'refused' THEN REASON_CANCELLED
            ELSE REASON_DEADLINE
        END::smallint,
        CASE
            WHEN c.subtype <> 'deadline' THEN c.message
        END  -- of a deadline the reason says it all
    FROM weft.job_change c
    WHERE c.batch_id = of_batch_id
        AND c.job_id = of_job_id
        AND c.to_state = STATE_ERROR
        -- Others say what people did afterwards.
        AND c.subtype IN ('blocked', 'deadline', 'machine', 'overdue', 'status', 'refused', 'unanswered')
    ORDER BY c.change_id DESC
    LIMIT 1
$$;
