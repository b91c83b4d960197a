-- _check_complete: raise WF202, and say what is missing, unless all jobs and groups that an update reserved have been added.
-- Safe to repeat: yes, it only reads.   Plan: bunches by key.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_complete(of_batch_id bigint, of_update_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_update record; v_jobs bigint; v_groups bigint; v_missing text;
BEGIN
    SELECT u.* INTO v_update FROM weft.batch_update u WHERE u.batch_id = of_batch_id AND u.update_id = of_update_id;
    SELECT coalesce(sum(x.n_jobs), 0) INTO v_jobs FROM weft.bunch x WHERE x.batch_id = of_batch_id AND x.update_id = of_update_id;
    IF v_jobs <> v_update.n_jobs THEN
        SELECT string_agg(format('%s to %s', gap.from_job, gap.to_job), ', ' ORDER BY gap.from_job) INTO v_missing FROM (
            SELECT coalesce(lag(x.first_job + x.n_jobs) OVER (ORDER BY x.first_job),
                v_update.first_job) - v_update.first_job + 1 AS from_job,
                   x.first_job - v_update.first_job AS to_job
            FROM (SELECT b.first_job, b.n_jobs FROM weft.bunch b WHERE b.batch_id = of_batch_id AND b.update_id = of_update_id
                  UNION ALL SELECT v_update.first_job + v_update.n_jobs, 0) x
            LIMIT 1000000) gap WHERE gap.from_job <= gap.to_job LIMIT 1;
        PERFORM weft._fail('WF202', format('update %s of batch b%s is incomplete', of_update_id, of_batch_id),
            format('It reserved %s jobs, %s were sent; jobs %s of the update are missing.', v_update.n_jobs, v_jobs, v_missing),
                'Send the missing jobs, then commit again.');
    END IF;
    SELECT count(*) INTO v_groups FROM weft.job_group g WHERE g.batch_id = of_batch_id
      AND g.group_id BETWEEN v_update.first_group AND v_update.first_group + v_update.n_groups - 1;
    IF v_groups <> v_update.n_groups THEN
        PERFORM weft._fail('WF202', format('update %s of batch b%s is incomplete', of_update_id, of_batch_id),
            format('It reserved %s groups, %s were sent.', v_update.n_groups, v_groups), 'Send the missing groups, then commit again.');
    END IF;
END $$;
