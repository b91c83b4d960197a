-- share_job: let a user of the tenant see one job of a batch and do with it what a PERMISSION says, instead
--   of what they could; NULL: no longer. Of the batch and its other jobs they see nothing by that.
-- Safe to repeat: yes.
-- Locks: as _share.
-- Plan: as _share.
-- Returns: the user's permission now, as list_job_permissions.  Raises WF101, WF102, WF118 (no such user),
--   WF130.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.share_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    of_user text,
    permission int,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_job(share_job.batch_id, share_job.job_id);
    RETURN weft._share(
        share_job.tenant_id,
        share_job.batch_id,
        share_job.job_id,
        of_user,
        share_job.permission,
        share_job.actor,
        share_job.at
    );
END $$;
