-- _skip_touched: a job number not far below the first job of a stretch that nobody has claimed yet, where the
--   stretch before it is claimed. A claim's hint says where its own last one stood. Of 64 claimers the others
--   have taken a thousand jobs since, and to walk over these costs more than the claim: so it looks at some
--   of them, in steps that double while the jobs are touched, then halve.
-- A range that is not all of an update is walked: between its jobs may be others that ended long ago (ADR
--   52).
-- Plan: the range and its update by key; job by key, some 2 * log2(jobs skipped / 64) times. It runs with the
--   settings of its caller.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._skip_touched(offer weft.offer, from_job int, snapshot pg_snapshot)
RETURNS int LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_from bigint := from_job;
    v_step bigint := 64;
    v_doubles boolean := true;
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM weft.runnable r
        JOIN weft.batch_update u ON u.batch_id = r.batch_id AND u.update_id = r.update_id
        WHERE r.runnable_id = offer.runnable_id
            AND r.first_job = u.first_job
            AND r.last_job = u.first_job + u.n_jobs - 1
    ) THEN
        RETURN from_job;
    END IF;
    WHILE v_step >= 64 LOOP
        IF v_from + v_step <= offer.last_job
            AND EXISTS (
                SELECT
                FROM weft.job j
                WHERE j.batch_id = offer.batch_id
                    AND j.job_id = v_from + v_step
                    AND NOT j.listed
                    AND (j.state > STATE_READY OR NOT weft._is_untouched(j.xmax, snapshot))
            )
        THEN
            v_from := v_from + v_step;
        ELSE
            v_doubles := false;
        END IF;
        v_step := CASE WHEN v_doubles THEN v_step * 2 ELSE v_step / 2 END;
    END LOOP;
    RETURN v_from;
END $$;
