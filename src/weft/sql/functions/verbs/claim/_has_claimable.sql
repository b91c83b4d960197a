-- _has_claimable: whether an offer has a job that a worker may claim, if it has room for it.
-- Plan: as _pick. It runs with the settings of its callers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_claimable(
    offer weft.offer,
    worker weft.worker_incarnation,
    has_cancel boolean,
    has_switch boolean,
    lookahead_jobs int
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_to int := least(offer.last_job, offer.low_job::bigint + lookahead_jobs);
BEGIN
    IF offer.runnable_id <> 0 THEN
        RETURN EXISTS (
            SELECT
            FROM weft.job j
            CROSS JOIN LATERAL weft._may_claim(
                j, offer.batch_id, worker.cpu_m, worker.memory_mib, has_cancel, has_switch
            )
            WHERE j.batch_id = offer.batch_id
                AND j.job_id BETWEEN offer.low_job AND v_to
                AND NOT j.listed
                AND j.lane_id = offer.lane_id
        );
    END IF;
    RETURN EXISTS (
        SELECT
        FROM weft.ready_job q
        JOIN weft.job j ON j.batch_id = q.batch_id AND j.job_id = q.job_id
        CROSS JOIN LATERAL weft._may_claim(
            j, offer.batch_id, worker.cpu_m, worker.memory_mib, has_cancel, has_switch
        )
        WHERE q.gate_set_id = 0
            AND q.pool_id = worker.pool_id
            AND q.user_id = offer.user_id
            AND q.lane_id = offer.lane_id
            AND q.rank = offer.rank
            AND q.batch_id = offer.batch_id
            AND (q.rank, q.batch_id, q.job_id) <= (offer.rank, offer.batch_id, v_to)
    );  -- so that only this index is used
END $$;
