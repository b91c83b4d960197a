-- add_members: put jobs of a batch into one of its sets.
-- Safe to repeat: yes, jobs that are members already are left.
-- Locks: batch (shared); as _add_members; as _announce.
-- Plan: by key.
-- Returns: how many jobs were added, and those that were not because their rows were locked: call again for
--   them.  Raises WF101 (batch), WF102 (job), WF103 (set), WF204 (set cancelled), WF213 (a job in too many
--   sets), WF214 (not a set).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_members(
    tenant_id int,
    batch_id bigint,
    group_id int,
    job_ids int[],
    sets_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (n_added int, busy int[]) LANGUAGE plpgsql AS $$
DECLARE
    v_job int;
BEGIN
    PERFORM weft._check_group(add_members.batch_id, add_members.group_id);
    PERFORM pg_advisory_xact_lock_shared(add_members.batch_id);
    PERFORM weft._check_batch(add_members.batch_id);
    IF NOT (
        SELECT g.is_set
        FROM weft.job_group g
        WHERE g.batch_id = add_members.batch_id AND g.group_id = add_members.group_id
    ) THEN
        PERFORM weft._fail(
            'WF214',
            format('group %s of batch b%s is not a set', add_members.group_id, add_members.batch_id),
            'A job stays in the tree group in which it was created.',
            'Create a set in the batch and add the jobs to it.'
        );
    END IF;
    PERFORM weft._check_open(add_members.batch_id, add_members.group_id);
    SELECT x
    INTO v_job
    FROM unnest(job_ids) x
    WHERE (
        SELECT (
            SELECT u.committed_at
            FROM weft.batch_update u
            WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
        )
        FROM weft.job j
        WHERE j.batch_id = add_members.batch_id AND j.job_id = x
    ) IS NULL
    LIMIT 1;
    IF v_job IS NOT NULL THEN
        PERFORM weft._fail(
            'WF102',
            format('job b%s.j%s does not exist', add_members.batch_id, v_job),
            'The batch has no committed job of this number.',
            'Add jobs that were committed; none of this request was added.'
        );
    END IF;
    RETURN QUERY
    SELECT *
    FROM weft._add_members(
        add_members.tenant_id, add_members.batch_id, add_members.group_id, job_ids, sets_max, add_members.at
    );
    PERFORM weft._announce();
END $$;
