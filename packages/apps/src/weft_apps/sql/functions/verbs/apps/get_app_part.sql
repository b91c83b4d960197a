-- get_app_part: one part of the packed folder of an application that jobs of a batch run, and the length of
--   the whole.
-- Plan: by key.
-- Returns: no row if there is no such part, or the batch runs no such application.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.get_app_part(of_batch_id bigint, of_digest bytea, of_part int)
RETURNS TABLE (n_bytes bigint, body bytea) LANGUAGE sql STABLE AS $$
    SELECT p.n_bytes, p.body
    FROM weft.app_use u
    JOIN weft.app_revision r ON r.revision_id = u.revision_id AND r.digest = of_digest
    JOIN weft.app_part p ON p.tenant_id = r.tenant_id AND p.digest = r.digest AND p.part = of_part
    WHERE u.batch_id = of_batch_id
    LIMIT 1
$$;
