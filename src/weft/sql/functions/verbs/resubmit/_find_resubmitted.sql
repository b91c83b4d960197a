-- _find_resubmitted: the next jobs of a batch that are copied to the one that is made from it.
-- Safe to repeat: yes, it only reads.
-- Plan: jobs and specs by key; as _find_retried.
-- failed: what failed, and what was cancelled because of it or of a limit of failures, if its parents
--   succeeded or are copied, too; else all committed jobs.
-- Returns: the jobs in order, and the last number that was examined.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._find_resubmitted(
    of_batch_id bigint,
    new_batch bigint,
    failed boolean,
    from_job bigint,
    to_job bigint,
    limit_rows int,
    at timestamptz,
    OUT job_ids int[],
    OUT upto bigint
) LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_cut int;
BEGIN
    IF failed THEN
        SELECT f.job_ids, f.upto
        INTO _find_resubmitted.job_ids, _find_resubmitted.upto
        FROM weft._find_retried(
            of_batch_id, NULL, NULL, from_job,
            least(to_job, from_job + 200000),
            limit_rows,
            _find_resubmitted.at,
            new_batch,
            ARRAY(
                SELECT c.group_id
                FROM weft.group_cancel c
                WHERE c.batch_id = of_batch_id AND c.actor = 'cancel_after_n_failures'
            )
        ) f;
    ELSE
        SELECT
            coalesce(array_agg(x.job_id ORDER BY x.job_id), '{}'),
            CASE WHEN count(*) < limit_rows THEN to_job ELSE max(x.job_id) END
        INTO job_ids, upto
        FROM (
            SELECT j.job_id
            FROM weft.job j
            JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
            WHERE j.batch_id = of_batch_id
                AND j.job_id BETWEEN from_job AND to_job
                AND u.committed_at IS NOT NULL
            ORDER BY j.job_id
            LIMIT limit_rows
        ) x;
    END IF;
    -- The driver reads the specs of all these jobs.
    SELECT min(c.first_job)
    INTO v_cut
    FROM (
        SELECT
            d.first_job,
            sum(octet_length(s.body)) OVER (ORDER BY d.first_job) AS n_bytes,
            row_number() OVER (ORDER BY d.first_job) AS n
        FROM (
            SELECT j.spec_first, min(j.job_id) AS first_job
            FROM unnest(job_ids) x
            CROSS JOIN LATERAL (
                SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
            ) j
            GROUP BY 1
        ) d
        CROSS JOIN LATERAL (
            SELECT y.body
            FROM weft.job_spec y
            WHERE y.batch_id = of_batch_id AND y.first_job = d.spec_first
            OFFSET 0
        ) s
    ) c
    WHERE c.n > 1 AND c.n_bytes > 16777216;
    IF v_cut IS NOT NULL THEN
        job_ids := ARRAY(SELECT x FROM unnest(job_ids) x WHERE x < v_cut ORDER BY x);
        upto := v_cut - 1;
    END IF;
END $$;
