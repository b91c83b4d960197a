-- _rare_field: what a job has in one of its rare fields, by itself or as part of an array.
-- Plan: labels and arrays by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._rare_field(
    of_batch_id bigint, of_job_id int, of_spec_first int, of_field text
) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (
            SELECT l.rare_fields -> of_field
            FROM weft.job_label l
            WHERE l.batch_id = of_batch_id AND l.job_id = of_job_id
        ),
        (
            SELECT r.rare_fields -> of_field
            FROM weft.job_array r
            WHERE r.batch_id = of_batch_id AND r.first_job = of_spec_first
        )
    )
$$;
