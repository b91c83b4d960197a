-- What running attempts are told. A signal is removed when it is acknowledged; the extension of a job stays until that has ended.
CREATE TABLE weft.job_command (
    command_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    job_id int NOT NULL,
    tenant_id int NOT NULL,
    attempt smallint,       -- to which a signal goes; which was told of the extension last
    incarnation_id int,     -- which has the attempt of a signal
    signal smallint,
    word text,              -- the name of the signal
    extend_ms bigint,       -- by how much longer each attempt may run
    actor text NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT job_command_is_one CHECK ((signal IS NULL) <> (extend_ms IS NULL)),
    CONSTRAINT job_command_signal_has_attempt CHECK (signal IS NULL OR attempt IS NOT NULL AND incarnation_id IS NOT NULL)
);
CREATE INDEX job_command_batch_id_job_id_idx ON weft.job_command (batch_id, job_id);
CREATE UNIQUE INDEX job_command_extension_idx ON weft.job_command (batch_id, job_id) WHERE extend_ms IS NOT NULL;
ALTER TABLE weft.job_command ENABLE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, DELETE ON weft.job_command TO weft_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON weft.job_command TO weft_system;
CREATE POLICY tenant_rows ON weft.job_command TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.job_command TO weft_system USING (true);
