-- withdraw_offers: offers of jobs that wait no more go. A queued job that may not start now, whose user has
--   lost a part of the share with which it was offered, or whose transport this driver does not know, is
--   ready again: its message is worthless from now on.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; transport_offer; job (SKIP LOCKED, in key order); as _unqueue_jobs; as _announce.
-- Plan: the offers, which are few; jobs by key.
-- What a limit, a priority or a move withdraws is done by whoever applies them (_return_excess,
--   _set_priority, _lock_waiting).
-- looks: whether to ask of each offered job if it may start, which takes longest; else only what is over
--   goes.
-- Returns: how many offers are left.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.withdraw_offers(epoch bigint, transports text[], looks boolean) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint[];
    v_job int[];
    v_new record;
BEGIN
    -- A claim changes the job and its offer together. What is asked here of the job never holds before that,
    -- so an offer that was claimed since this statement began is left alone.
    DELETE FROM weft.transport_offer o
    USING weft.job j
    WHERE j.batch_id = o.batch_id
        AND j.job_id = o.job_id
        AND (
            j.state NOT IN (STATE_QUEUED, STATE_RUNNING) OR j.state = STATE_RUNNING AND j.attempt > o.attempt
        );
    DELETE FROM weft.transport_offer o
    WHERE NOT EXISTS (SELECT FROM weft.job j WHERE j.batch_id = o.batch_id AND j.job_id = o.job_id);
    IF looks THEN
        SELECT array_agg(x.batch_id), array_agg(x.job_id)
        INTO v_batch, v_job
        FROM (
            SELECT j.batch_id, j.job_id
            FROM weft.transport_offer o
            JOIN weft.job j ON j.batch_id = o.batch_id AND j.job_id = o.job_id
            WHERE j.state = STATE_QUEUED
                AND (
                    o.transport <> ALL (withdraw_offers.transports)
                        OR NOT weft._may_pass(j.batch_id, j.group_id, j.job_id, j.always_run)
                        -- Its user has less weight in fair share, by a tenth at least, and others have work
                        -- in the pool, who may come first now.
                        OR EXISTS (
                            SELECT
                            FROM weft.batch b
                            JOIN weft.user_share s ON s.pool_id = o.pool_id AND s.user_id = b.user_id
                            WHERE b.batch_id = o.batch_id
                                AND s.weight < 0.9 * o.weight
                                AND EXISTS (
                                    SELECT
                                    FROM weft.user_share x
                                    WHERE x.pool_id = o.pool_id AND x.active AND x.user_id <> b.user_id
                                )
                        )
                )
            ORDER BY j.batch_id, j.job_id
            LIMIT 1000
            FOR UPDATE OF j SKIP LOCKED
        ) x;
    END IF;
    IF v_batch IS NOT NULL THEN
        SELECT u.* INTO v_new FROM weft._unqueue_jobs(v_batch, v_job, clock_timestamp()) u;
        PERFORM weft._announce(v_new.pools, v_new.users, v_new.lanes);
    END IF;
    RETURN (SELECT count(*) FROM weft.transport_offer);
END $$;
