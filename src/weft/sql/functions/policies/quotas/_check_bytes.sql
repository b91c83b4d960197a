-- _check_bytes: refuse to store more for a user if they, or the tenant, would have more than their quotas
--   allow.
-- For: _at_commit, _at_store; these quotas are locked (_lock_quotas).
-- Safe to repeat: yes, it only reads.
-- Plan: as _exceeded_bytes.
-- Raises WF134.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._check_bytes(of_tenant_id int, of_user_id int, more bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_over record;
BEGIN
    SELECT * INTO v_over FROM weft._exceeded_bytes(of_tenant_id, of_user_id, more);
    IF FOUND THEN
        PERFORM weft._fail(
            'WF134',
            format(
                '%s would have more bytes stored than the quota allows',
                weft._quota_owner(of_tenant_id, CASE WHEN v_over.is_user THEN of_user_id END)
            ),
            format(
                '%s bytes are stored and %s would come; at most %s are allowed.',
                v_over.n_bytes,
                more,
                v_over.bytes_max
            ),
            'Delete batches that are not needed any more (`weft delete`), also those of submissions that were broken off. '
                '`weft quota ls` shows what is used.'
        );
    END IF;
END $$;
