-- heartbeat: a worker lives; usage of its attempts is rolled up; its claims are written down shortly.
-- Called by: Store.heartbeat (worker agent).   Safe to repeat: yes.
-- Locks: the incarnation's row; rows of its running jobs in key order.   Plan: as _live_attempts.
-- Returns: whether it is still alive for the others, whether there is work, and the attempts that must be stopped.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.heartbeat(incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], draining boolean, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (alive boolean, has_work boolean, stop_batch_ids bigint[], stop_job_ids int[], stop_attempts smallint[])
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
    v_pool int; v_last bigint;
BEGIN
    UPDATE weft.worker_incarnation i SET heartbeat_at = heartbeat.at, draining = heartbeat.draining
    WHERE i.incarnation_id = heartbeat.incarnation_id AND i.ended_at IS NULL RETURNING i.pool_id INTO v_pool;
    IF NOT FOUND THEN
        RETURN QUERY SELECT false, false, '{}'::bigint[], '{}'::int[], '{}'::smallint[];
        RETURN;
    END IF;
    SELECT max(c.claim_id) INTO v_last FROM weft.claim c WHERE c.incarnation_id = heartbeat.incarnation_id;
    IF v_last IS NOT NULL THEN
        -- A claim that commits meanwhile has a higher number or is not seen at all, and stays for the next heartbeat.
        WITH old AS (DELETE FROM weft.claim c WHERE c.incarnation_id = heartbeat.incarnation_id AND c.claim_id <= v_last RETURNING c.batch_id, c.jobs),
        live AS (
            SELECT j.batch_id, j.job_id FROM (SELECT DISTINCT o.batch_id, x AS job_id FROM old o, unnest(o.jobs) x) t
            CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.batch_id AND y.job_id = t.job_id OFFSET 0) j
            WHERE j.state = 4 AND j.incarnation_id = heartbeat.incarnation_id)
        INSERT INTO weft.claim (incarnation_id, batch_id, jobs)
        SELECT heartbeat.incarnation_id, l.batch_id, array_agg(l.job_id) FROM live l GROUP BY l.batch_id;

        WITH live AS MATERIALIZED (
            SELECT l.batch_id, l.job_id FROM weft._live_attempts(heartbeat.incarnation_id) l WHERE l.started_at IS NOT NULL ORDER BY 1, 2),
        locked AS MATERIALIZED (
            SELECT j.* FROM live l CROSS JOIN LATERAL (
                SELECT y.batch_id, y.job_id, y.tenant_id, y.group_id, y.shape_id, y.rate_card_id, y.billed_ms, weft._ms_between(y.started_at, heartbeat.at) AS ms
                FROM weft.job y WHERE y.batch_id = l.batch_id AND y.job_id = l.job_id AND y.state = 4 AND y.incarnation_id = heartbeat.incarnation_id
                FOR NO KEY UPDATE) j),
        upd AS (
            UPDATE weft.job j SET billed_ms = k.ms FROM locked k
            WHERE j.batch_id = k.batch_id AND j.job_id = k.job_id AND k.ms > k.billed_ms
              AND j.state = 4 AND j.incarnation_id = heartbeat.incarnation_id AND j.billed_ms = k.billed_ms
            RETURNING k.*)
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, rate_card_id, usage_on, usage_ms)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, v_pool, u.rate_card_id, (heartbeat.at AT TIME ZONE 'UTC')::date, sum(u.ms - u.billed_ms)
        FROM upd u GROUP BY 1, 2, 3, 4, 6;
        IF FOUND THEN
            PERFORM weft._announce();
        END IF;
    END IF;
    RETURN QUERY
    SELECT true, weft._has_work(heartbeat.incarnation_id), coalesce(array_agg(c.batch_id), '{}'), coalesce(array_agg(c.job_id), '{}'), coalesce(array_agg(c.attempt), '{}')
    FROM weft.list_cancelled(heartbeat.incarnation_id, heartbeat.batch_ids, heartbeat.job_ids, heartbeat.attempts) c;
END $$;
