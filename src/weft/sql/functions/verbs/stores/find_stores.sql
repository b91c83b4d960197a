-- find_stores: stores of files by name for a live attempt: those of the tenant of its batch, each with the
--   secret that it names.
-- Plan: the job, stores and secrets by key.
-- Returns: one row per name, in their order; `url` is NULL if there is no such store; `body`: of the secret,
--   encrypted. No row if this worker does not have the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.find_stores(
    incarnation_id int, of_batch_id bigint, of_job_id int, of_attempt int, names text[]
) RETURNS TABLE (
    url text,
    endpoint text,
    region text,
    access text,
    credentials text,
    secret_name text,
    tenant_id int,
    user_id int,
    body bytea
) LANGUAGE sql STABLE AS $$
    SELECT f.url, f.endpoint, f.region, f.access, f.credentials, f.secret_name, j.tenant_id, f.set_by, s.body
    FROM weft.job j
    CROSS JOIN unnest(find_stores.names) WITH ORDINALITY AS w (name, n)
    LEFT JOIN weft.file_store f ON f.tenant_id = j.tenant_id AND f.name = w.name
    LEFT JOIN weft.secret s ON s.user_id = f.set_by AND s.name = f.secret_name
    WHERE j.batch_id = find_stores.of_batch_id
        AND j.job_id = find_stores.of_job_id
        AND j.attempt = find_stores.of_attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = find_stores.incarnation_id
    ORDER BY w.n
$$;
