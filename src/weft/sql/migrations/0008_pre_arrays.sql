-- Arrays: many jobs made from one template. And jobs with very many parents.

-- An array, or the part of one that came in one bunch: the jobs from first_job on. Its chunk in weft.job_spec begins with the same
-- job, so weft.job.spec_first leads here. A name or attributes of one job's own stand in weft.job_label and go before these.
CREATE TABLE weft.job_array (
    batch_id bigint NOT NULL,
    first_job int NOT NULL,
    tenant_id int NOT NULL,
    n_jobs int NOT NULL CHECK (n_jobs > 0),
    first_index int NOT NULL CHECK (first_index >= 0),         -- what the first of them knows as WEFT_INDEX
    name text CHECK (length(name) <= 1024),
    attributes jsonb,
    PRIMARY KEY (batch_id, first_job)
);

-- Ends of parents of a crowded child that are still to be subtracted from its n_unfinished: added by every report, so that no report
-- waits for another one at the child's row.
ALTER TABLE weft.job ADD COLUMN crowded boolean NOT NULL DEFAULT false;  -- it had more than 1,000 parents that had not ended
CREATE TABLE weft.parent_end (
    batch_id bigint NOT NULL,
    child_id int NOT NULL,
    tenant_id int NOT NULL,
    n int NOT NULL,
    bad boolean NOT NULL           -- one of them did not succeed
);
CREATE INDEX parent_end_child_idx ON weft.parent_end (batch_id, child_id);

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['job_array', 'parent_end'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
