-- _end_rules: the rules of a job for the ends of its attempts (weft.core.ends.end_rules).
-- Plan: labels and arrays by key.   Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_rules(of_batch_id bigint, of_job_id int, of_spec_first int) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        (SELECT l.rare_fields -> 'end_rules' FROM weft.job_label l WHERE l.batch_id = of_batch_id AND l.job_id = of_job_id),
        (SELECT r.rare_fields -> 'end_rules' FROM weft.job_array r WHERE r.batch_id = of_batch_id AND r.first_job = of_spec_first))
$$;
