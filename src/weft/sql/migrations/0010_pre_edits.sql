-- What people change of batches, groups and jobs that are there: who did it, and when.

-- Changes of a group that no other row dates; of group 0: of its batch. Those of single jobs stand in weft.job_change.
CREATE TABLE weft.group_change (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    message text,
    PRIMARY KEY (batch_id, group_id, change_id)
);

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['group_change'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
