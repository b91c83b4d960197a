-- _has_work: whether a claim of this worker would find something. It passes over what claim_jobs passes over: batches that are
--   cancelled or at max_running, jobs of cancelled and held groups, jobs that do not fit; else a worker would not sleep, or never wake.
-- Called by: wait_for_work, heartbeat.   Safe to repeat: yes, it only reads.
-- Plan: active users, then the heads of their queues by key. Where many may be held and not parked yet it looks as far as a claim does.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_work(of_incarnation_id int) RETURNS boolean LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    i weft.worker_incarnation; v_user int; v_source record; v_rank smallint; v_batch bigint; v_far bigint;
BEGIN
    SELECT x.* INTO i FROM weft.worker_incarnation x WHERE x.incarnation_id = of_incarnation_id AND x.ended_at IS NULL AND NOT x.draining;
    FOR v_user IN SELECT s.user_id FROM weft.user_share s WHERE s.pool_id = i.pool_id AND s.active LOOP
        -- Batch by batch: in one statement the jobs of a cancelled batch, a million perhaps, would be read before it is passed over.
        FOR v_source IN
            SELECT r.batch_id, r.low_job, r.last_job, b.max_running FROM weft.runnable r JOIN weft.batch b ON b.batch_id = r.batch_id
            WHERE r.pool_id = i.pool_id AND r.user_id = v_user ORDER BY r.batch_id, r.first_job
        LOOP
            CONTINUE WHEN EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = v_source.batch_id AND c.group_id = 0)
                OR weft._is_held(v_source.batch_id, 0, 0)
                OR (v_source.max_running IS NOT NULL AND weft._n_running(v_source.batch_id) >= v_source.max_running);
            v_far := v_source.low_job + weft._lookahead_jobs(v_source.batch_id);
            IF EXISTS (
                SELECT FROM weft.job j JOIN weft.shape h USING (shape_id)
                WHERE j.batch_id = v_source.batch_id AND j.job_id BETWEEN v_source.low_job AND least(v_source.last_job, v_far) AND j.state = 1 AND NOT j.listed
                  AND h.cpu_m <= i.cpu_m AND h.memory_mib <= i.memory_mib AND h.storage_mib <= i.storage_mib AND h.gpu <= i.gpu AND h.countables = '{}'
                  AND NOT (EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = v_source.batch_id)
                           AND (j.group_id <@ (SELECT weft._cancelled_groups(v_source.batch_id)) OR weft._is_cancelled(j.batch_id, j.group_id, j.always_run)))
                  AND NOT (EXISTS (SELECT FROM weft.group_hold c WHERE c.batch_id = v_source.batch_id) AND weft._is_held(j.batch_id, j.group_id, j.job_id))) THEN
                RETURN true;
            END IF;
        END LOOP;
        v_rank := NULL; v_batch := NULL;
        LOOP
            SELECT q.rank, q.batch_id, q.job_id, b.max_running INTO v_source FROM weft.ready_job q JOIN weft.batch b ON b.batch_id = q.batch_id
            WHERE q.pool_id = i.pool_id AND q.user_id = v_user AND (v_rank IS NULL OR (q.rank, q.batch_id) > (v_rank, v_batch))
            ORDER BY q.rank, q.batch_id, q.job_id LIMIT 1;
            EXIT WHEN NOT FOUND;
            v_rank := v_source.rank; v_batch := v_source.batch_id;
            CONTINUE WHEN v_source.max_running IS NOT NULL AND weft._n_running(v_batch) >= v_source.max_running;
            v_far := v_source.job_id + weft._lookahead_jobs(v_batch);
            IF EXISTS (
                SELECT FROM weft.ready_job q
                JOIN weft.job j ON j.batch_id = q.batch_id AND j.job_id = q.job_id JOIN weft.shape h USING (shape_id)
                WHERE q.pool_id = i.pool_id AND q.user_id = v_user AND q.rank = v_rank AND q.batch_id = v_batch
                  AND (q.rank, q.batch_id, q.job_id) <= (v_rank, v_batch, v_far)  -- by the order of this index and no other
                  AND h.cpu_m <= i.cpu_m AND h.memory_mib <= i.memory_mib AND h.storage_mib <= i.storage_mib AND h.gpu <= i.gpu AND h.countables = '{}'
                  AND NOT (EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = q.batch_id) AND weft._is_cancelled(j.batch_id, j.group_id, j.always_run))
                  AND NOT weft._is_held(j.batch_id, j.group_id, j.job_id)) THEN
                RETURN true;
            END IF;
        END LOOP;
    END LOOP;
    RETURN false;
END $$;
