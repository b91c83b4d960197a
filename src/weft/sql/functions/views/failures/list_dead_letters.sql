-- list_dead_letters: jobs that failed for good and that the caller sees, of the newest batch first, then by
--   cause and number, after a key.
-- Safe to repeat: yes, it only reads.
-- Raises WF101.
-- Plan: as _failed_batches, or as _visible_failed_batches; as _causes of each batch; letters by
--   dead_letter_cause_idx from the key on; jobs, attempts, batches and cancels by key.
-- of_batch_id, of_cause_id, of_reason: only these; NULL: all. of_acknowledged: those that are, instead of
--   those that are not.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_dead_letters(
    tenant_id int,
    of_batch_id bigint,
    of_cause_id bigint,
    of_reason smallint,
    of_acknowledged boolean,
    after_batch bigint,
    after_cause bigint,
    after_job int,
    limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql PLAN_BY_KEY PLAN_IN_ORDER PLAN_ONCE SET enable_hashagg = off AS $$
BEGIN
    IF of_batch_id IS NOT NULL THEN
        PERFORM weft._check_batch(of_batch_id);
    END IF;
    RETURN QUERY
    SELECT jsonb_build_object(
        'batch_id', l.batch_id,
        'job_id', l.job_id,
        'cause', weft._cause_name(l.cause_id),
        'cause_id', l.cause_id, 'state', s.word, 'reason', l.reason, 'exit_code', l.exit_code,
        'signal', l.signal,
        'message', coalesce(a.message, (weft._error_change(l.batch_id, l.job_id)).message, l.message),
        'attempt', j.attempt,
        'n_alike', l.n_alike,
        'final_retry_count', greatest(j.attempt - j.n_uncounted - 1, 0),
        'failed_at', l.failed_at,
        'acknowledged', k.acknowledged,
        'cancelled', weft._is_cancelled(l.batch_id, j.group_id, j.always_run)
    ) || jsonb_strip_nulls(jsonb_build_object('door', b.door, 'foreign_id', b.foreign_id))
    FROM (
        SELECT
            d.*,
            c.reason,
            c.exit_code,
            c.signal,
            c.message,
            CASE WHEN of_acknowledged THEN c.n_acknowledged ELSE c.n_jobs - c.n_acknowledged END AS n_alike
        FROM (
            SELECT of_batch_id
            WHERE of_batch_id IS NOT NULL AND of_batch_id <= coalesce(after_batch, of_batch_id)
            UNION ALL
            SELECT x
            FROM weft._failed_batches(
                list_dead_letters.tenant_id, after_batch, of_acknowledged, of_cause_id, of_reason
            ) x
            WHERE of_batch_id IS NULL AND weft._caller_id() IS NULL
            UNION ALL
            SELECT x
            FROM weft._visible_failed_batches(weft._caller_id(), after_batch, of_acknowledged) x
            WHERE of_batch_id IS NULL AND weft._caller_id() IS NOT NULL
        ) f (batch_id)
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft._causes(f.batch_id) x
            WHERE (of_cause_id IS NULL OR x.cause_id = of_cause_id)
                AND (of_reason IS NULL OR x.reason = of_reason)
                AND CASE WHEN of_acknowledged THEN x.n_acknowledged > 0 ELSE x.n_jobs > x.n_acknowledged END
                AND (x.batch_id IS DISTINCT FROM after_batch OR x.cause_id >= after_cause)
            ORDER BY x.cause_id
        ) c
        CROSS JOIN LATERAL (
            SELECT x.batch_id, x.job_id, x.cause_id, x.failed_at
            FROM weft.dead_letter x
            WHERE x.batch_id = c.batch_id
                AND x.acknowledged = of_acknowledged
                AND x.cause_id = c.cause_id
                AND x.job_id > CASE
                    WHEN c.batch_id = after_batch AND c.cause_id = after_cause THEN after_job
                    ELSE 0
                END
            ORDER BY x.job_id
            LIMIT limit_rows
        ) d
        LIMIT limit_rows
    ) l
    CROSS JOIN LATERAL (
        SELECT x.state, x.attempt, x.n_uncounted, x.group_id, x.always_run
        FROM weft.job x
        WHERE x.batch_id = l.batch_id AND x.job_id = l.job_id AND x.state IN (STATE_FAILED, STATE_ERROR)
        OFFSET 0
    ) j
    JOIN weft.job_state s ON s.state = j.state
    CROSS JOIN LATERAL (SELECT x.door, x.foreign_id FROM weft.batch x WHERE x.batch_id = l.batch_id OFFSET 0)
        b
    LEFT JOIN LATERAL (
        SELECT x.message
        FROM weft.attempt x
        WHERE x.batch_id = l.batch_id AND x.job_id = l.job_id AND x.attempt = j.attempt AND x.state = j.state
        OFFSET 0
    ) a ON true
    LEFT JOIN LATERAL (
        SELECT jsonb_build_object('at', x.at, 'by', x.actor, 'note', x.message) AS acknowledged
        FROM weft.job_change x
        WHERE of_acknowledged
            AND x.batch_id = l.batch_id
            AND x.job_id = l.job_id
            AND x.subtype = 'acknowledged'
        ORDER BY x.change_id DESC
        LIMIT 1
    ) k ON true
    ORDER BY l.batch_id DESC, l.cause_id, l.job_id;
END $$;
