-- missing_payloads: those of these payloads of which the batch does not have all parts.
-- Plan: by key.
-- Raises WF101.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.missing_payloads(
    tenant_id int, of_batch_id bigint, digests bytea[], part_bytes int
) RETURNS SETOF bytea LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM weft._check_batch(of_batch_id);
    RETURN QUERY
    SELECT d
    FROM unnest(digests) d
    WHERE NOT coalesce(
        (
            SELECT count(*) = (max(p.n_bytes) + part_bytes - 1) / part_bytes
            FROM weft.batch_payload p
            WHERE p.batch_id = of_batch_id AND p.digest = d
        ),
        false
    );
END $$;
