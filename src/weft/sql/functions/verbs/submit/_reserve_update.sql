-- _reserve_update: add an update to a batch, with the next numbers for its jobs and groups. The caller counts
--   these in the batch.
-- committed_at: of one that its own transaction fills and commits; NULL: it is open.
-- Safe to repeat: no.
-- Locks: batch_row (by the caller).
-- Plan: by key.
-- Returns: the new row.  Raises WF210 (batch is full), WF212 (too many groups).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._reserve_update(
    of_tenant_id int,
    of_batch_id bigint,
    of_update_id int,
    from_job int,
    from_group int,
    user_id int,
    new_jobs int,
    new_groups int,
    trace_id text,
    idempotency_key text,
    digest bytea,
    groups_max int,
    at timestamptz,
    committed_at timestamptz DEFAULT NULL
) RETURNS weft.batch_update LANGUAGE plpgsql AS $$
DECLARE
    v_new weft.batch_update;
    v_done boolean;
BEGIN
    v_done := weft._check_room(of_batch_id, from_group - 1 + _reserve_update.new_groups, groups_max) IS NULL;
    IF from_job::bigint + _reserve_update.new_jobs > 2000000000 THEN
        PERFORM weft._fail(
            'WF210',
            format('batch b%s is full', of_batch_id),
            'A batch holds at most 2,000,000,000 jobs.',
            'Start a new batch.'
        );
    END IF;
    INSERT INTO weft.batch_update AS u (
        batch_id, update_id, tenant_id, user_id, first_job, n_jobs, first_group, n_groups, idempotency_key,
        digest, trace_id, created_at, committed_at
    )
    VALUES (
        of_batch_id, of_update_id, of_tenant_id, _reserve_update.user_id, from_job, _reserve_update.new_jobs,
        from_group, _reserve_update.new_groups, _reserve_update.idempotency_key, _reserve_update.digest,
        _reserve_update.trace_id, _reserve_update.at, _reserve_update.committed_at
    )
    RETURNING u.*
    INTO v_new;
    RETURN v_new;
END $$;
