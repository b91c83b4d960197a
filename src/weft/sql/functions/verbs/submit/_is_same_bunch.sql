-- _is_same_bunch: whether this bunch was added from the same body; NULL: it was not added.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._is_same_bunch(
    of_batch_id bigint, of_update_id int, of_first_job int, of_n_jobs int, of_digest bytea
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT x.digest IS NULL OR x.digest = of_digest
    FROM weft.bunch x
    WHERE x.batch_id = of_batch_id
        AND x.update_id = of_update_id
        AND x.first_job = of_first_job
        AND x.n_jobs = of_n_jobs
$$;
