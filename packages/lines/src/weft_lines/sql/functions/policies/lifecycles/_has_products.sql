-- _has_products: whether a success with this exit code has something to send, by the lifecycle of its job.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_products(of_lifecycle_id int, of_exit_code int) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (
        SELECT
        FROM weft.lifecycle_exit e
        WHERE e.lifecycle_id = of_lifecycle_id
            AND of_exit_code BETWEEN e.first_code AND e.last_code
            AND NOT e.products
    )
$$;
