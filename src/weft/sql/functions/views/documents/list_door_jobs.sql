-- list_door_jobs: jobs of a door that are a user's own or were granted to them, the newest first: a page of those below a number.
-- Called by: Store.list_door_jobs (api).   Safe to repeat: yes, it only reads.
-- Plan: own batches backwards along the index of users, granted ones along that of grants, as _visible_batches; the rest by key.
-- with_hidden: also if lists leave it out.   states: of the job, or it has none (_door_job); NULL: any.   Returns: as _door_job.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_door_jobs(tenant_id int, door text, of_user_id int, before bigint, states smallint[],
    with_hidden boolean, limit_rows int)
RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp PLAN_IN_ORDER PLAN_ONCE
AS $$
BEGIN
    PERFORM weft._as_tenant(list_door_jobs.tenant_id);
    RETURN QUERY SELECT weft._door_job(x.batch_id) FROM (
        (SELECT b.batch_id FROM weft.batch b
         WHERE (b.user_id, b.batch_id) >= (of_user_id, 0) AND (b.user_id, b.batch_id) < (of_user_id, list_door_jobs.before)
            AND b.door = list_door_jobs.door AND b.foreign_document IS NOT NULL AND b.deleted_at IS NULL
            AND (list_door_jobs.with_hidden OR NOT b.hidden)
            AND (list_door_jobs.states IS NULL OR coalesce((SELECT j.state = ANY (list_door_jobs.states) FROM weft.job j
                 WHERE j.batch_id = b.batch_id AND j.job_id = 1), true))
         ORDER BY b.user_id DESC, b.batch_id DESC LIMIT limit_rows)
        UNION
        (SELECT b.batch_id FROM weft.batch_grant g CROSS JOIN LATERAL (
            SELECT y.batch_id FROM weft.batch y
            WHERE y.batch_id = g.batch_id AND y.door = list_door_jobs.door AND y.foreign_document IS NOT NULL AND y.deleted_at IS NULL
                AND (list_door_jobs.with_hidden OR NOT y.hidden) AND (list_door_jobs.states IS NULL OR coalesce((
                    SELECT j.state = ANY (list_door_jobs.states) FROM weft.job j
                    WHERE j.batch_id = y.batch_id AND j.job_id = 1), true)) OFFSET 0) b
         WHERE g.job_id = 0 AND (g.user_id, g.batch_id) >= (of_user_id, 0) AND (g.user_id, g.batch_id) < (of_user_id, list_door_jobs.before)
         ORDER BY g.user_id DESC, g.batch_id DESC LIMIT limit_rows)) x
    ORDER BY x.batch_id DESC LIMIT limit_rows;
END $$;
