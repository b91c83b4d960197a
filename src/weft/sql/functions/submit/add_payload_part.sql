-- add_payload_part: store one part of a payload, the large arguments of some jobs of a batch.
-- Called by: Store.add_payload_part (api).   Safe to repeat: yes, a part that is there stays.
-- Locks: batch (shared).   Plan: by key.   Raises WF101, WF204.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_payload_part(tenant_id int, batch_id bigint, digest bytea, part int, n_bytes bigint, body bytea)
RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._as_tenant(add_payload_part.tenant_id);
    PERFORM pg_advisory_xact_lock_shared(add_payload_part.batch_id);
    PERFORM weft._check_batch(add_payload_part.batch_id);
    PERFORM weft._check_open(add_payload_part.batch_id, 0);
    INSERT INTO weft.batch_payload (batch_id, digest, part, tenant_id, n_bytes, body)
    VALUES (add_payload_part.batch_id, add_payload_part.digest, add_payload_part.part, add_payload_part.tenant_id,
            add_payload_part.n_bytes, add_payload_part.body)
    ON CONFLICT DO NOTHING;
END $$;
