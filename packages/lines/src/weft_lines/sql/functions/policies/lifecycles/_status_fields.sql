-- _status_fields: what the document of a job says about its status.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._status_fields(of_job weft.job) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('status', l.statuses[s.status])
    FROM weft.job_status s
    JOIN weft.lifecycle l ON l.lifecycle_id = of_job.lifecycle_id
    WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id
$$;
