-- share_batch: let a user of the tenant see a batch and do with it what a PERMISSION says, instead of what
--   they could; NULL: no longer.
-- Safe to repeat: yes.
-- Locks: as _share.
-- Plan: as _share.
-- Returns: the user's permission now, as list_permissions.  Raises WF101, WF118 (no such user), WF130.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.share_batch(
    tenant_id int,
    batch_id bigint,
    of_user text,
    permission int,
    actor text,
    at timestamptz DEFAULT clock_timestamp(),
    said text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_batch(share_batch.batch_id);
    RETURN weft._share(
        share_batch.tenant_id,
        share_batch.batch_id,
        0,
        of_user,
        share_batch.permission,
        share_batch.actor,
        share_batch.at,
        share_batch.said
    );
END $$;
