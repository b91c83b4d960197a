-- Applications: folders with a description, which jobs run with parameters (ADR 104).

-- Each content that an application had. The one without removed_at is what new jobs get.
CREATE TABLE weft.app_revision (
    revision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 80),
    for_user int NOT NULL DEFAULT 0,  -- who may run it; 0: everybody in the tenant
    revision int NOT NULL CHECK (revision > 0),  -- counts the contents of one name
    digest bytea NOT NULL CHECK (length(digest) = 32),
    n_bytes bigint NOT NULL CHECK (n_bytes > 0),
    description jsonb NOT NULL,
    added_by int NOT NULL,
    added_at timestamptz NOT NULL,
    removed_at timestamptz  -- other content came, or the application was removed; NULL: neither
);
CREATE UNIQUE INDEX app_revision_name_idx ON weft.app_revision (tenant_id, name, for_user) WHERE removed_at
    IS NULL;
CREATE INDEX app_revision_digest_idx ON weft.app_revision (tenant_id, digest);
CREATE INDEX app_revision_removed_idx ON weft.app_revision (tenant_id, removed_at) WHERE removed_at
    IS NOT NULL;

-- Packed folders in parts, as batch_payload, found by their SHA-256. They count as stored for who sent them.
CREATE TABLE weft.app_part (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    part int NOT NULL CHECK (part > 0),
    n_bytes bigint NOT NULL CHECK (n_bytes > 0),  -- of the whole folder
    body bytea NOT NULL,
    user_id int NOT NULL,
    added_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, digest, part)
);
ALTER TABLE weft.app_part ALTER COLUMN body SET STORAGE EXTERNAL;

-- Which contents the jobs of a batch run: they are kept as long as the batch.
CREATE TABLE weft.app_use (
    batch_id bigint NOT NULL,
    revision_id bigint NOT NULL REFERENCES weft.app_revision,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, revision_id)
);
CREATE INDEX app_use_revision_idx ON weft.app_use (revision_id);
