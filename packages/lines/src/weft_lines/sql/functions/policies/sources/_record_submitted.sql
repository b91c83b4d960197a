-- _record_submitted: record the jobs of a set of items that was submitted although its api never said so.
-- Safe to repeat: yes.
-- For: decide_items, postpone_items, which have the source's row.
-- Locks: source_item.
-- Plan: batch and update by their idempotency keys; jobs of the update by key, labels with them.
-- The key of the submission is that of weft_lines/calls/source_items.py; the name of a job is the key of its
--   item.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._record_submitted(of_source weft.source) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_key text := format('source %s %s', of_source.source_id, of_source.bunch);
    v_update weft.batch_update;
BEGIN
    SELECT u.*
    INTO v_update
    FROM weft.batch_update u
    WHERE u.batch_id = of_source.batch_id AND u.idempotency_key = v_key;
    IF v_update.batch_id IS NULL THEN
        SELECT u.*
        INTO v_update
        FROM weft.batch b
        JOIN weft.batch_update u ON u.batch_id = b.batch_id AND u.update_id = 1
        WHERE b.user_id = of_source.user_id AND b.idempotency_key = v_key;
    END IF;
    IF v_update.committed_at IS NULL THEN
        RETURN;
    END IF;
    UPDATE weft.source_item i
    SET
        state = 'job',
        document = NULL,
        reason = NULL,
        left_over = NULL,
        batch_id = v_update.batch_id,
        job_id = l.job_id
    FROM weft.job_label l
    WHERE l.batch_id = v_update.batch_id
        AND l.job_id BETWEEN v_update.first_job AND v_update.first_job + v_update.n_jobs - 1
        AND i.source_id = of_source.source_id
        AND i.state = 'ready'
        AND i.key = l.name;
END $$;
