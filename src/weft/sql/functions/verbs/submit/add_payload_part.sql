-- add_payload_part: store one part of a payload, the large arguments of some jobs of a batch.
-- Safe to repeat: yes, a part that is there stays.
-- Locks: as _before_submit; batch (shared); as _announce.
-- Plan: by key.
-- Raises WF101, WF204, WF134 (as _at_store).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_payload_part(
    tenant_id int, batch_id bigint, digest bytea, part int, n_bytes bigint, body bytea
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_checks boolean;
BEGIN
    v_checks := (
        weft._before_submit(add_payload_part.tenant_id, NULL, add_payload_part.batch_id, NULL, false)
    ).checks;
    PERFORM pg_advisory_xact_lock_shared(add_payload_part.batch_id);
    PERFORM weft._check_batch(add_payload_part.batch_id);
    PERFORM weft._check_open(add_payload_part.batch_id, 0);
    IF v_checks
        AND NOT EXISTS (
            SELECT
            FROM weft.batch_payload p
            WHERE p.batch_id = add_payload_part.batch_id
                AND p.digest = add_payload_part.digest
                AND p.part = add_payload_part.part
        )
    THEN
        PERFORM weft._at_store(add_payload_part.batch_id, octet_length(add_payload_part.body));
    END IF;
    WITH added AS (
        INSERT INTO weft.batch_payload (batch_id, digest, part, tenant_id, n_bytes, body)
        VALUES (
            add_payload_part.batch_id,
            add_payload_part.digest,
            add_payload_part.part,
            add_payload_part.tenant_id,
            add_payload_part.n_bytes,
            add_payload_part.body
        )
        ON CONFLICT DO NOTHING
        RETURNING octet_length(body) AS n_bytes
    )
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
    SELECT add_payload_part.tenant_id, add_payload_part.batch_id, 0, 0, 0, a.n_bytes
    FROM added a;
    PERFORM weft._announce();
END $$;
