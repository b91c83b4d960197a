-- _unstage: at the commit, settle a bunch's jobs with parents in earlier updates, and list the ready ones
--   that no range covers.
-- Safe to repeat: no.
-- Locks: job (staged ones).
-- Plan: jobs of the bunch by key.
-- Returns: the gate sets at which it queued jobs. A completion that now ends a parent waits for the row or
--   has counted already, so each state is decided once (j.staged).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unstage(
    of_batch_id bigint, from_job int, to_job int, pool_id int, at timestamptz
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_sets int[];
BEGIN
    WITH upd AS (
        UPDATE weft.job j
        SET
            staged = false,
            state = CASE
                WHEN j.n_unfinished > 0 THEN STATE_PENDING
                WHEN j.bad_parent AND NOT j.always_run THEN STATE_CANCELLED
                ELSE STATE_READY
            END,
            -- A parent may have ended during the commit, after its clock was read.
            ready_at = CASE
                WHEN j.n_unfinished = 0
                    THEN greatest(
                        _unstage.at,
                        (
                            SELECT max(coalesce(p.cancelled_at, a.ended_at))
                            FROM weft.edge e
                            JOIN weft.job p ON p.batch_id = e.batch_id AND p.job_id = e.parent_id
                            LEFT JOIN weft.attempt a ON a.batch_id = p.batch_id
                                AND a.job_id = p.job_id
                                AND a.attempt = p.attempt
                            WHERE e.batch_id = j.batch_id AND e.child_id = j.job_id
                        )
                    )
                ELSE greatest(j.ready_at, _unstage.at)
            END,
            cancelled_at = CASE
                WHEN j.n_unfinished = 0 AND j.bad_parent AND NOT j.always_run THEN _unstage.at
            END
        WHERE j.batch_id = of_batch_id AND j.job_id BETWEEN from_job AND to_job AND j.staged
        RETURNING j.batch_id, j.job_id, j.state, j.tenant_id, j.group_id, j.shape_id
    ),
    del AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, n_cancelled, last_ended_at
        )
        SELECT
            u.tenant_id, u.batch_id, u.group_id, u.shape_id,
            weft._shape_pool(u.shape_id, _unstage.pool_id),
            -count(*),
            count(*) FILTER (WHERE u.state = STATE_READY),
            count(*) FILTER (WHERE u.state = STATE_CANCELLED),
            max(_unstage.at) FILTER (WHERE u.state = STATE_CANCELLED)
        FROM upd u
        WHERE u.state <> STATE_PENDING
        GROUP BY 1, 2, 3, 4
    ),
    cas AS (
        INSERT INTO weft.cascade (batch_id, job_id, tenant_id)
        SELECT u.batch_id, u.job_id, u.tenant_id
        FROM upd u
        WHERE u.state = STATE_CANCELLED
        ON CONFLICT DO NOTHING
    )
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
    SELECT
        _unstage.at,
        u.tenant_id,
        u.batch_id,
        'jobs.cancelled',
        STATE_PENDING,
        STATE_CANCELLED,
        array_agg(u.job_id)
    FROM upd u
    WHERE u.state = STATE_CANCELLED
    GROUP BY u.tenant_id, u.batch_id;
    WITH ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT
            CASE WHEN b.gated THEN weft._job_gates(b.gate_set_id, j.gate_set_id) ELSE 0 END,
            weft._lane_pool(j.lane_id, _unstage.pool_id),
            b.user_id,
            -j.priority,
            j.batch_id,
            j.job_id,
            j.tenant_id,
            j.lane_id
        FROM weft.batch b
        JOIN weft.job j ON j.batch_id = b.batch_id
        WHERE b.batch_id = of_batch_id
            AND j.job_id BETWEEN from_job AND to_job
            AND j.state = STATE_READY
            AND j.listed
        ON CONFLICT DO NOTHING
        RETURNING gate_set_id
    )
    SELECT array_agg(DISTINCT i.gate_set_id)
    INTO v_sets
    FROM ins i
    WHERE i.gate_set_id <> 0;
    RETURN v_sets;
END $$;
