-- _commit_copy: commit a batch of which all jobs have been copied; from here on it exists. The operation ends.
-- Safe to repeat: no.
-- Locks: operation (by the caller); as _before_commit (by the caller); batch_row (nobody else); as commit_update (the same queues);
--   group (nobody else); as _record_change; as _end_operation.
-- Plan: as commit_update.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._commit_copy(operation weft.operation, new_batch bigint, at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n int;
BEGIN
    UPDATE weft.batch b SET deleted_at = NULL, created_at = _commit_copy.at WHERE b.batch_id = new_batch RETURNING b.next_job - 1 INTO v_n;
    PERFORM FROM weft.commit_update(operation.tenant_id, new_batch, 1, _commit_copy.at);
    UPDATE weft.job_group g SET created_at = _commit_copy.at WHERE g.batch_id = new_batch AND g.group_id = 0;
    PERFORM weft._record_change(operation.batch_id, 0, 'resubmitted', operation.arguments ->> 'actor', format('as b%s', new_batch),
        _commit_copy.at);
    PERFORM weft._end_operation(operation.operation_id, NULL, jsonb_build_object('batch_id', new_batch, 'n_jobs', v_n), _commit_copy.at);
END $$;
