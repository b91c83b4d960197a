-- _check_job: raise WF101 or WF102 unless the job exists and its update is committed.
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_job(of_batch_id bigint, of_job_id int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_jobs(of_batch_id, ARRAY[of_job_id]);
    IF NOT EXISTS (
        SELECT
        FROM weft.job j
        JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
        WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id AND u.committed_at IS NOT NULL
    ) THEN
        PERFORM weft._fail(
            'WF102',
            format('job b%s.j%s does not exist', of_batch_id, of_job_id),
            'The batch has no committed job of this number.',
            format('List its jobs with `weft jobs b%s`.', of_batch_id)
        );
    END IF;
END $$;
