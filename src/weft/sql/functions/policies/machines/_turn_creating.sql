-- _turn_creating: a ready job waits for a machine of its own from now on, or no longer: then it is ready
--   again.
-- Safe to repeat: no.
-- Plan: by key.
-- Locks: job (by the caller). A caller that makes it ready lists it as well.
-- begins: whether it waits from now on.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._turn_creating(
    of_batch_id bigint, of_job_id int, begins boolean, message text, at timestamptz
) RETURNS void LANGUAGE sql AS $$
    WITH upd AS (
        UPDATE weft.job j
        SET state = CASE WHEN begins THEN STATE_CREATING ELSE STATE_READY END, listed = j.listed OR NOT begins
        FROM weft.batch b
        JOIN weft.queue q
        USING (queue_id)
        WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND b.batch_id = of_batch_id
        RETURNING
            j.batch_id, j.job_id, j.tenant_id, j.group_id, j.shape_id, j.state,
            weft._lane_pool(j.lane_id, q.pool_id) AS pool_id,
            CASE WHEN begins THEN STATE_READY ELSE STATE_CREATING END::smallint AS old_state,
            CASE WHEN begins THEN 1 ELSE -1 END AS n
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_creating)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.pool_id, -u.n, u.n
        FROM upd u
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _turn_creating.at,
            u.tenant_id,
            u.batch_id,
            CASE WHEN begins THEN 'jobs.creating' ELSE 'jobs.ready' END,
            u.old_state,
            u.state,
            ARRAY[u.job_id]
        FROM upd u
    )
    INSERT INTO weft.job_change (
        batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
    )
    SELECT
        u.batch_id, u.job_id, u.tenant_id, _turn_creating.at, u.old_state, u.state, 'weft', 'machine',
        _turn_creating.message
    FROM upd u
$$;
