-- How much is stored for a user, or for all users of a tenant: output of attempts, specs and payloads (ADR 70).
ALTER TABLE weft.quota ADD COLUMN bytes_max bigint CONSTRAINT quota_of_bytes CHECK (bytes_max >= 0);
ALTER TABLE weft.job_delta ADD COLUMN stored_bytes bigint NOT NULL DEFAULT 0;
-- Whether all that is stored for the batch is in the sums: only of batches that were made by a function that counts it.
ALTER TABLE weft.batch ADD COLUMN bytes_counted boolean NOT NULL DEFAULT false;
-- By batch, until it is removed; and by the owners of batches, with user 0 for all of a tenant. Folded with the counters.
CREATE TABLE weft.batch_storage (
    batch_id bigint PRIMARY KEY,
    tenant_id int NOT NULL,
    n_bytes bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE weft.user_storage (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    n_bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
) WITH (fillfactor = 50);
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['batch_storage', 'user_storage'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON weft.%I TO weft_system', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant '
            'USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
