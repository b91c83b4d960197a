-- _record_retry: write what follows from jobs that are pending or ready again: counters, changes, events.
-- Safe to repeat: no.
-- Locks: job (by the caller).
-- Plan: jobs by key.
-- of_job_ids, old_states: in order of their numbers, and the states in which they had ended.
-- Returns: the jobs that are ready and
--   not in a range.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._record_retry(
    of_batch_id bigint, of_job_ids int[], old_states smallint[], of_pool_id int, actor text, at timestamptz
) RETURNS int[] LANGUAGE sql AS $$
    WITH again AS MATERIALIZED (
        SELECT
            j.job_id,
            j.tenant_id,
            j.group_id,
            j.shape_id,
            j.attempt,
            j.state,
            j.listed,
            old_states[row_number() OVER (ORDER BY j.job_id)] AS old_state
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = ANY (of_job_ids)
    ),
    del AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_failed, n_errored,
            n_cancelled
        )
        SELECT
            s.tenant_id, of_batch_id, s.group_id, s.shape_id,
            weft._shape_pool(s.shape_id, of_pool_id),
            s.n_pending, s.n_ready, -s.n_failed, -s.n_errored, -s.n_cancelled
        FROM (
            SELECT
                a.tenant_id,
                a.group_id,
                a.shape_id,
                count(*) FILTER (WHERE a.state = STATE_PENDING) AS n_pending,
                count(*) FILTER (WHERE a.state = STATE_READY) AS n_ready,
                count(*) FILTER (WHERE a.old_state = STATE_FAILED) AS n_failed,
                count(*) FILTER (WHERE a.old_state = STATE_ERROR) AS n_errored,
                count(*) FILTER (WHERE a.old_state = STATE_CANCELLED) AS n_cancelled
            FROM again a
            GROUP BY 1, 2, 3
        ) s
    ),
    change AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype
        )
        SELECT
            of_batch_id, a.job_id, a.tenant_id, _record_retry.at, a.old_state, a.state, nullif(a.attempt, 0),
            _record_retry.actor, 'retried'
        FROM again a
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _record_retry.at,
            a.tenant_id,
            of_batch_id,
            'jobs.' || (SELECT s.word FROM weft.job_state s WHERE s.state = a.state),
            a.old_state,
            a.state,
            array_agg(a.job_id ORDER BY a.job_id)
        FROM again a
        GROUP BY a.tenant_id, a.old_state, a.state
    )
    SELECT coalesce(
        array_agg(a.job_id ORDER BY a.job_id) FILTER (WHERE a.state = STATE_READY AND a.listed), '{}'
    )
    FROM again a
$$;
