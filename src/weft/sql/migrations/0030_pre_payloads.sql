-- Large arguments of functions, in parts. All parts of a payload but the last have the same size (weft.wire.payload). A payload is
-- found by its SHA-256, so what many jobs of a batch take is stored once; it goes with its batch.
CREATE TABLE weft.batch_payload (
    batch_id bigint NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    part int NOT NULL CHECK (part > 0),
    tenant_id int NOT NULL,
    n_bytes bigint NOT NULL CHECK (n_bytes > 0),   -- of the whole payload
    body bytea NOT NULL,
    PRIMARY KEY (batch_id, digest, part)
);
ALTER TABLE weft.batch_payload ALTER COLUMN body SET STORAGE EXTERNAL;  -- compressing it would cost more than writing it
ALTER TABLE weft.batch_payload ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant_rows ON weft.batch_payload TO weft_tenant USING (tenant_id = (SELECT current_setting('weft.tenant')::int));
CREATE POLICY system_rows ON weft.batch_payload TO weft_system USING (true);
