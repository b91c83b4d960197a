-- retry_jobs: begin to run again what failed, and what was cancelled because of it: in a batch, of these
--   jobs, of those that match a query, or of those that failed for a cause.
-- Safe to repeat: yes with an idempotency key; else as a new operation that finds nothing to do.
-- Locks: as _create_operation.
-- Plan: jobs, edges and cancels by key.
-- One insert, whatever the number of jobs.
-- job_ids, query, within_group, cause_id: only these jobs, those that match, those of this group and below
--   it, those that failed for it; NULL: all.
-- Returns: the operation.  Raises WF101, WF102, WF103, WF105, WF201 (key used for another request), WF204
--   (cancelled), WF233 (a job has not failed), WF234 (a parent of a job did not succeed).
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.retry_jobs(
    tenant_id int,
    user_id int,
    batch_id bigint,
    job_ids int[],
    query text,
    within_group int,
    cause_id bigint,
    actor text,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
    v_last int;
    v_group int := coalesce(within_group, 0);
BEGIN
    v_id := weft._find_operation(retry_jobs.user_id, retry_jobs.idempotency_key, retry_jobs.digest);
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    PERFORM weft._check_group(retry_jobs.batch_id, v_group);
    IF weft._is_cancelled(retry_jobs.batch_id, v_group, false)
        -- By its own limit of failures, which is lifted if it is retried as a whole.
        AND NOT (
            retry_jobs.job_ids IS NULL
                AND retry_jobs.query IS NULL
                AND retry_jobs.cause_id IS NULL
                AND NOT EXISTS (
                    SELECT
                    FROM weft.group_ancestor a
                    JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
                    WHERE a.batch_id = retry_jobs.batch_id
                        AND a.group_id = v_group
                        AND (c.actor <> 'cancel_after_n_failures' OR c.group_id <> v_group)
                )
        )
    THEN
        PERFORM weft._fail(
            'WF204',
            format(
                '%sbatch b%s was cancelled',
                CASE WHEN v_group <> 0 THEN 'a group of ' END,
                retry_jobs.batch_id
            ),
            'What was cancelled does not run again.',
            weft._retry_hint(retry_jobs.batch_id, v_group)
        );
    END IF;
    PERFORM weft._check_spends(retry_jobs.batch_id, retry_jobs.user_id);
    PERFORM weft._check_retried(retry_jobs.batch_id, retry_jobs.job_ids);
    SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = retry_jobs.batch_id;
    RETURN weft._create_operation(
        retry_jobs.tenant_id, retry_jobs.user_id, retry_jobs.batch_id, 'retry',
        jsonb_strip_nulls(
            jsonb_build_object(
                'jobs', to_jsonb(retry_jobs.job_ids),
                'query', retry_jobs.query,
                'within_group', nullif(within_group, 0),
                'cause', retry_jobs.cause_id,
                'actor', retry_jobs.actor
            )
        ),
        v_last, retry_jobs.trace_id, retry_jobs.idempotency_key, retry_jobs.digest, retry_jobs.at
    );
END $$;
