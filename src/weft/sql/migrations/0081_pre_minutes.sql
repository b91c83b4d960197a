-- What changed in each minute of the last hour: by the owners of batches, and, as user 0, for all of a tenant. Folded with the counters;
-- minutes in which nothing changed have no row. n_waiting, n_running: by how much more; the rest: jobs that ended so.
CREATE TABLE weft.user_minute (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    minute timestamptz NOT NULL,
    n_waiting bigint NOT NULL,
    n_running bigint NOT NULL,
    n_succeeded bigint NOT NULL,
    n_failed bigint NOT NULL,  -- failed, or ended by an error
    n_cancelled bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, minute)
) WITH (fillfactor = 50);
CREATE INDEX user_minute_minute_idx ON weft.user_minute (minute);
ALTER TABLE weft.user_minute ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.user_minute TO weft_system;
CREATE POLICY tenant_rows ON weft.user_minute TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.user_minute TO weft_system USING (true);
