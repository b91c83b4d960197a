-- _trail_digest: the digest of an entry of the trail: SHA-256 of the digest before it and of all that it
--   says.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._trail_digest(before bytea, entry weft.trail_entry) RETURNS bytea
LANGUAGE sql STABLE AS $$
    SELECT sha256(
        before || convert_to(
            (
                jsonb_build_array(
                    entry.number, entry.request_id, entry.tenant_id, entry.user_id, entry.user_name,
                    entry.token_id, entry.address, entry.trace_id, entry.action, entry.path, entry.batch_id,
                    entry.refused,
                    (extract(epoch FROM entry.at) * 1000000)::bigint,
                    (extract(epoch FROM entry.sealed_at) * 1000000)::bigint
                ) || CASE WHEN entry.times IS NULL THEN '[]' ELSE jsonb_build_array(entry.times) END
            )::text,
            'UTF8'
        )
    )
$$;
