-- _take_names: give these services of a batch their names, so that one of a name runs at a time (ADR 143).
-- Safe to repeat: yes.
-- Locks: service (in the order of names).
-- Plan: labels and services by key, the job that has the name by key.
-- Raises WF237 (another service of the name has not ended).
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._take_names(of_tenant_id int, of_batch_id bigint, of_job_ids int[])
RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_one record;
    v_has record;
BEGIN
    FOR v_one IN
        SELECT l.name, l.job_id
        FROM weft.job_label l
        WHERE l.batch_id = of_batch_id
            AND l.job_id = ANY (of_job_ids)
            AND l.tenant_id = of_tenant_id
            AND l.rare_fields ? 'service'
        ORDER BY l.name
    LOOP
        INSERT INTO weft.service (tenant_id, name, batch_id, job_id)
        VALUES (of_tenant_id, v_one.name, of_batch_id, v_one.job_id)
        ON CONFLICT (tenant_id, name) DO NOTHING;
        CONTINUE WHEN FOUND;
        -- What follows are statements of their own: they see what those did for whom this one has waited.
        SELECT s.batch_id, s.job_id
        INTO v_has
        FROM weft.service s
        WHERE s.tenant_id = of_tenant_id AND s.name = v_one.name
        FOR UPDATE;
        IF (v_has.batch_id, v_has.job_id) <> (of_batch_id, v_one.job_id)
            AND EXISTS (
                SELECT
                FROM weft.job j
                WHERE j.batch_id = v_has.batch_id AND j.job_id = v_has.job_id AND j.state < STATE_SUCCESS
            )
        THEN
            PERFORM weft._fail(
                'WF237',
                format('the service "%s" runs already', v_one.name),
                'One service of a name runs at a time, and another one of the tenant has not ended.',
                'Cancel that one first, wait until it has ended, and submit again.'
            );
        END IF;
        UPDATE weft.service s
        SET batch_id = of_batch_id, job_id = v_one.job_id
        WHERE s.tenant_id = of_tenant_id AND s.name = v_one.name;
    END LOOP;
END $$;
