-- unblock_job: let a blocked job go on now, whatever it waits for: it leaves its condition, and its date has
--   come. The driver makes it ready (release_blocked).
-- Safe to repeat: yes.
-- Locks: job.
-- Plan: by key.
-- Raises WF101, WF102.
-- Returns: whether it was blocked.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.unblock_job(
    tenant_id int, batch_id bigint, job_id int, at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_blocked weft.blocked_job;
BEGIN
    PERFORM weft._check_job(unblock_job.batch_id, unblock_job.job_id);
    PERFORM
    FROM weft.job j
    WHERE j.batch_id = unblock_job.batch_id AND j.job_id = unblock_job.job_id
    FOR NO KEY UPDATE;
    SELECT k.*
    INTO v_blocked
    FROM weft.blocked_job k
    WHERE k.batch_id = unblock_job.batch_id AND k.job_id = unblock_job.job_id;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE weft.blocked_job k
    SET condition_id = NULL, next_at = least(k.next_at, unblock_job.at)
    WHERE k.batch_id = unblock_job.batch_id AND k.job_id = unblock_job.job_id;
    IF v_blocked.condition_id IS NOT NULL THEN
        INSERT INTO weft.condition_delta (condition_id, tenant_id, n)
        VALUES (v_blocked.condition_id, v_blocked.tenant_id, -1);
    END IF;
    PERFORM pg_notify('driver', 'recovery');
    RETURN true;
END $$;
