-- why_job: what keeps a job from running, or what became of it (_why_facts).
-- Safe to repeat: yes, it only reads.
-- Plan: as _why_facts.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.why_job(tenant_id int, batch_id bigint, job_id int) RETURNS jsonb
LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_job(why_job.batch_id, why_job.job_id);
    RETURN (
        SELECT w.facts || jsonb_build_object('came', weft._came_by(why_job.batch_id))
        FROM weft._why_facts(why_job.batch_id, ARRAY[why_job.job_id]) w
    );
END $$;
