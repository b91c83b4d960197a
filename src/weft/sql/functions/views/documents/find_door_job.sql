-- find_door_job: a job by the id that its door gave it, for its owner, those to whom it was granted, and
--   whoever sees the tenant; members of its billing project are strangers to it here.
-- Safe to repeat: yes, it only reads.
-- Plan: by index of ids.
-- Raises WF130.
-- with_hidden: also if lists leave it out.
-- Returns: as _door_jobs; NULL: there is none, or they do not see it.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.find_door_job(tenant_id int, door text, foreign_id text, with_hidden boolean)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_batch bigint;
    v_permission int;
BEGIN
    SELECT b.batch_id, weft._own_permission(b.batch_id, b.user_id)
    INTO v_batch, v_permission
    FROM weft.batch b
    WHERE b.tenant_id = find_door_job.tenant_id
        AND b.door = find_door_job.door
        AND b.foreign_id = find_door_job.foreign_id
        AND b.deleted_at IS NULL
        AND (find_door_job.with_hidden OR NOT b.hidden)
        AND b.foreign_document IS NOT NULL;
    IF coalesce(v_permission, 0) = 0 THEN
        RETURN NULL;
    END IF;
    PERFORM weft._check_permission(v_batch, v_permission, 'the job');
    RETURN (SELECT d FROM weft._door_jobs(ARRAY[v_batch]) d);
END $$;
