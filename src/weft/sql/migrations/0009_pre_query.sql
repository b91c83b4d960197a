-- What the query language needs: rights to read for those who run queries, behind the same wall as weft_tenant, and two indexes.

-- Queries are statements, made of fixed fragments (weft.store.query_sql), that these logins run themselves. What they read of
-- tables with tenants is the rows of the tenant that the transaction has named (ADR 12).
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY[
        'batch', 'batch_update', 'job', 'job_label', 'job_array', 'attempt', 'group_ancestor', 'bunch', 'bunch_count', 'member_span', 'ready_job', 'runnable',
        'group_count', 'group_usage', 'job_delta', 'group_cancel', 'group_completion', 'tenant_user', 'billing_project', 'queue'
    ] LOOP
        EXECUTE format('GRANT SELECT ON weft.%I TO weft_api, weft_driver', v_table);
        EXECUTE format('CREATE POLICY query_rows ON weft.%I FOR SELECT TO weft_api, weft_driver '
                       'USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
    END LOOP;
END $$;
GRANT SELECT ON weft.fold, weft.shape, weft.rate, weft.pool, weft.worker, weft.worker_incarnation TO weft_api, weft_driver;

-- Jobs by name.
CREATE INDEX job_label_name_idx ON weft.job_label (batch_id, name, job_id) WHERE name IS NOT NULL;

CREATE INDEX job_array_name_idx ON weft.job_array (batch_id, name, first_job) WHERE name IS NOT NULL;

-- Failures: every job that failed or errored has such an attempt (audit: failures_have_attempts). A completion without one does not
-- touch it.
CREATE INDEX attempt_failure_idx ON weft.attempt (batch_id, job_id) WHERE reason IS NOT NULL;
