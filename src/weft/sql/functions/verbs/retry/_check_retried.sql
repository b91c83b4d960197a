-- _check_retried: raise WF102, WF204, WF233 or WF234 unless these jobs can be run again. Their parents may be
--   retried with them.
-- Safe to repeat: yes, it only reads.
-- Plan: jobs, edges and cancels by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_retried(of_batch_id bigint, of_job_ids int[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_parent record;
BEGIN
    FOR v_job IN
        SELECT x AS job_id, j.state, s.word, j.group_id, j.always_run
        FROM (SELECT DISTINCT x FROM unnest(of_job_ids) x ORDER BY x) d
        LEFT JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = d.x OFFSET 0
        ) j ON true
        LEFT JOIN weft.job_state s ON s.state = j.state
        ORDER BY x
    LOOP
        PERFORM weft._check_job(of_batch_id, v_job.job_id);
        IF v_job.state <= STATE_SUCCESS THEN
            PERFORM weft._fail(
                'WF233',
                format('job b%s.j%s has not failed', of_batch_id, v_job.job_id),
                format('Its state is %s; only jobs that ended without success are run again.', v_job.word),
                CASE
                    WHEN v_job.state < STATE_SUCCESS THEN 'Wait for its end, or cancel it first.'
                    ELSE 'To run it once more, submit it to a new batch.'
                END
            );
        ELSIF weft._is_cancelled(of_batch_id, v_job.group_id, v_job.always_run) THEN
            PERFORM weft._fail(
                'WF204',
                format('the group of job b%s.j%s was cancelled', of_batch_id, v_job.job_id),
                'Jobs of a cancelled group do not run again.',
                weft._retry_hint(of_batch_id, v_job.group_id)
            );
        END IF;
        SELECT p.job_id, w.word
        INTO v_parent
        FROM weft.edge e
        CROSS JOIN LATERAL (
            SELECT y.job_id, y.state
            FROM weft.job y
            WHERE y.batch_id = of_batch_id AND y.job_id = e.parent_id
            OFFSET 0
        ) p
        JOIN weft.job_state w ON w.state = p.state
        WHERE e.batch_id = of_batch_id
            AND e.child_id = v_job.job_id
            AND p.state > STATE_SUCCESS
            AND p.job_id <> ALL (of_job_ids)
            AND NOT v_job.always_run
            AND (
                NOT weft._suffices(e.need, of_batch_id, e.parent_id)
                    OR e.need = ANY (
                        ARRAY(
                            SELECT s.need
                            FROM weft._share_counts(of_batch_id, ARRAY[v_job.job_id], of_job_ids) s
                            WHERE s.n_failed > s.n_jobs - s.n_needed
                        )
                    )
            )
        ORDER BY e.parent_id
        LIMIT 1;
        IF FOUND THEN
            PERFORM weft._fail(
                'WF234',
                format(
                    'parent j%s of job b%s.j%s did not succeed', v_parent.job_id, of_batch_id, v_job.job_id
                ),
                format('The state of the parent is %s, and the job needs its success.', v_parent.word),
                format(
                    'Retry the parent: `weft retry b%s.j%s`. What was cancelled because of it runs after it.',
                    of_batch_id,
                    v_parent.job_id
                )
            );
        END IF;
    END LOOP;
END $$;
