-- _prioritize_job: change the priority of one job; NULL: leave it.
-- Safe to repeat: yes.
-- Locks: job (by the caller); as _set_priority.
-- Plan: by key.
-- Returns: whether to record the change: also if the job has this priority already, but a running operation
--   would change it.
-- Raises WF216 (the job has ended).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._prioritize_job(of_batch_id bigint, of_job_id int, new_priority smallint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
BEGIN
    IF new_priority IS NULL THEN
        RETURN false;
    END IF;
    SELECT j.state, j.priority, s.word
    INTO v_job
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id;
    IF v_job.state < STATE_SUCCESS THEN
        RETURN cardinality(weft._set_priority(of_batch_id, ARRAY[of_job_id], new_priority)) > 0
            OR EXISTS (
                SELECT
                FROM weft.operation o
                WHERE o.batch_id = of_batch_id AND o.kind = 'set_priority' AND o.state = 'running'
            );
    ELSIF v_job.priority <> new_priority THEN
        PERFORM weft._fail(
            'WF216',
            format('job b%s.j%s has ended', of_batch_id, of_job_id),
            format('Its state is %s; a priority only affects which job starts first.', v_job.word),
            'Nothing was changed. Leave out `priority` to change other fields.'
        );
    END IF;
    RETURN false;
END $$;
