-- _has_work: whether a claim of this worker would find something. It passes over what claim_jobs passes over: batches that are
--   held, cancelled or at max_running, jobs of cancelled groups, jobs that do not fit; else a worker would not sleep, or never wake.
-- Called by: wait_for_work, heartbeat.   Safe to repeat: yes, it only reads.
-- Plan: active users, then the heads of their queues by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_work(of_incarnation_id int) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM weft.worker_incarnation i
        JOIN weft.user_share s ON s.pool_id = i.pool_id AND s.active
        CROSS JOIN LATERAL (
            (SELECT r.batch_id FROM weft.runnable r
             CROSS JOIN LATERAL (
                SELECT FROM weft.job j JOIN weft.shape h USING (shape_id)
                WHERE j.batch_id = r.batch_id AND j.job_id BETWEEN r.low_job AND r.last_job AND j.state = 1 AND NOT j.listed
                  AND h.cpu_m <= i.cpu_m AND h.memory_mib <= i.memory_mib AND h.storage_mib <= i.storage_mib AND h.gpu <= i.gpu AND h.countables = '{}'
                  AND NOT (EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = r.batch_id) AND weft._is_cancelled(j.batch_id, j.group_id, j.always_run))
                ORDER BY j.job_id LIMIT 1) x
             WHERE r.pool_id = i.pool_id AND r.user_id = s.user_id
               AND NOT EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = r.batch_id AND c.group_id = 0))
            UNION ALL
            (SELECT q.batch_id FROM weft.ready_job q
             JOIN weft.job j ON j.batch_id = q.batch_id AND j.job_id = q.job_id JOIN weft.shape h USING (shape_id)
             WHERE q.pool_id = i.pool_id AND q.user_id = s.user_id
               AND h.cpu_m <= i.cpu_m AND h.memory_mib <= i.memory_mib AND h.storage_mib <= i.storage_mib AND h.gpu <= i.gpu AND h.countables = '{}'
               AND NOT (EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = q.batch_id) AND weft._is_cancelled(j.batch_id, j.group_id, j.always_run)))) w
        JOIN weft.batch b ON b.batch_id = w.batch_id
        WHERE i.incarnation_id = of_incarnation_id AND i.ended_at IS NULL AND NOT i.draining AND NOT b.held
          AND (b.max_running IS NULL OR weft._n_running(b.batch_id) < b.max_running))
$$;
