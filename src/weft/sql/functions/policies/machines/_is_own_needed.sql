-- _is_own_needed: whether a machine that was made for one job still is that job's: it waits for the machine, or runs on it.
-- Plan: the job by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_own_needed(m weft.machine, of_incarnation_id int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (m).released_at IS NULL AND EXISTS (
        SELECT FROM weft.job j WHERE j.batch_id = (m).for_batch_id AND j.job_id = (m).for_job_id
            AND (j.state = STATE_CREATING OR j.state = STATE_RUNNING AND j.incarnation_id = of_incarnation_id))
$$;
