-- _unqueue_jobs: those of these jobs that are queued are ready again, as they were before they were offered:
--   listed, with their places at gates. Their offers go, so messages that tell of them are worthless from now
--   on. The caller announces.
-- Safe to repeat: yes.
-- Plan: by key.
-- Locks: job (by the caller); transport_offer (with the job); ready_job (with the job).
-- Returns: where there is work of whom now, side by side, for _announce.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._unqueue_jobs(
    batch_ids bigint[], job_ids int[], at timestamptz, OUT pools int[], OUT users int[], OUT lanes int[]
) LANGUAGE plpgsql SECURITY DEFINER PLAN_BY_KEY AS $$
BEGIN
    WITH upd AS (
        UPDATE weft.job j
        SET state = STATE_READY, listed = true
        FROM unnest(_unqueue_jobs.batch_ids, _unqueue_jobs.job_ids) t (b, j)
        JOIN weft.batch b ON b.batch_id = t.b
        JOIN weft.queue q
        USING (queue_id)
        WHERE j.batch_id = t.b AND j.job_id = t.j AND j.state = STATE_QUEUED
        RETURNING
            j.tenant_id, j.batch_id, j.job_id, j.group_id, j.shape_id, j.lane_id, j.priority, b.user_id,
            weft._lane_pool(j.lane_id, q.pool_id) AS pool_id
    ),
    gone AS (
        DELETE FROM weft.transport_offer o USING upd u WHERE o.batch_id = u.batch_id AND o.job_id = u.job_id
    ),
    ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT 0, u.pool_id, u.user_id, -u.priority, u.batch_id, u.job_id, u.tenant_id, u.lane_id
        FROM upd u
    ),
    held AS (  -- they are parked by the sweep (see _list_ready)
        INSERT INTO weft.held_ready (batch_id, job_id, tenant_id)
        SELECT u.batch_id, u.job_id, u.tenant_id
        FROM upd u
        WHERE weft._is_closed(u.batch_id, u.group_id, u.job_id)
        ON CONFLICT DO NOTHING
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_queued)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.pool_id, count(*), -count(*)
        FROM upd u
        GROUP BY u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.pool_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _unqueue_jobs.at,
            u.tenant_id,
            u.batch_id,
            'jobs.ready',
            STATE_QUEUED,
            STATE_READY,
            array_agg(u.job_id ORDER BY u.job_id)
        FROM upd u
        GROUP BY u.tenant_id, u.batch_id
    )
    SELECT array_agg(d.pool_id), array_agg(d.user_id), array_agg(d.lane_id)
    INTO pools, users, lanes
    FROM (SELECT DISTINCT u.pool_id, u.user_id, u.lane_id FROM upd u) d;
END $$;
