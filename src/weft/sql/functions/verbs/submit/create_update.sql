-- create_update: reserve contiguous numbers of a batch for jobs and groups.
-- Safe to repeat: yes with an idempotency key.
-- Locks: batch_row (shortly).
-- Plan: by key.
-- Returns: what was reserved.  Raises WF101 (batch), WF105 (no member of the project), WF201 (key used with
--   another body), WF204 (batch cancelled), WF212 (too many groups).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_update(
    tenant_id int,
    user_id int,
    batch_id bigint,
    new_jobs int,
    new_groups int,
    trace_id text,
    idempotency_key text,
    digest bytea,
    groups_max int DEFAULT 2000000000,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    update_id int, first_job int, first_group int, n_jobs int, n_groups int, committed boolean, is_new boolean
) LANGUAGE plpgsql AS $$
DECLARE
    v_batch weft.batch;
    v_old record;
    v_new weft.batch_update;
BEGIN
    SELECT b.* INTO v_batch FROM weft.batch b WHERE b.batch_id = create_update.batch_id FOR NO KEY UPDATE;
    PERFORM weft._check_batch(create_update.batch_id);
    IF create_update.idempotency_key IS NOT NULL THEN
        SELECT u.*
        INTO v_old
        FROM weft.batch_update u
        WHERE u.batch_id = create_update.batch_id AND u.idempotency_key = create_update.idempotency_key;
        IF FOUND THEN
            IF v_old.digest IS DISTINCT FROM create_update.digest THEN
                PERFORM weft._fail(
                    'WF201',
                    'the idempotency key was used for another request',
                    format(
                        'It created update %s of batch b%s from a different body.',
                        v_old.update_id,
                        v_old.batch_id
                    ),
                    'Send the same body again, or choose a new key.'
                );
            END IF;
            RETURN QUERY
            SELECT
                v_old.update_id,
                v_old.first_job,
                v_old.first_group,
                v_old.n_jobs,
                v_old.n_groups,
                v_old.committed_at IS NOT NULL,
                false;
            RETURN;
        END IF;
    END IF;
    PERFORM weft._check_open(create_update.batch_id, 0);
    PERFORM weft._check_spends(create_update.batch_id, create_update.user_id);
    v_new := weft._reserve_update(
        v_batch.tenant_id, v_batch.batch_id, v_batch.next_update, v_batch.next_job, v_batch.next_group,
        create_update.user_id, create_update.new_jobs, create_update.new_groups, create_update.trace_id,
        create_update.idempotency_key, create_update.digest, groups_max, create_update.at
    );
    UPDATE weft.batch b
    SET
        next_update = b.next_update + 1,
        next_job = b.next_job + v_new.n_jobs,
        next_group = b.next_group + v_new.n_groups
    WHERE b.batch_id = v_new.batch_id;
    RETURN QUERY
    SELECT v_new.update_id, v_new.first_job, v_new.first_group, v_new.n_jobs, v_new.n_groups, false, true;
END $$;
