-- Stores of objects, from which jobs get files and in which they leave them (ADR 119).

-- It holds no credential: a secret is named, that of the user who set the store.
CREATE TABLE weft.file_store (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (name ~ '^[A-Za-z][A-Za-z0-9_.-]{0,62}$'),
    url text NOT NULL CHECK (length(url) BETWEEN 1 AND 1100),  -- s3://BUCKET or s3://BUCKET/PREFIX
    endpoint text CHECK (length(endpoint) <= 2048),  -- NULL: that of AWS
    region text CHECK (length(region) <= 64),
    access text NOT NULL CHECK (access IN ('read', 'write')),  -- write: read, too
    credentials text NOT NULL CHECK (credentials IN ('secret', 'env', 'instance-role')),
    secret_name text CHECK (length(secret_name) <= 63),
    set_by int NOT NULL REFERENCES weft.tenant_user (user_id),
    set_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name),
    CHECK ((credentials = 'secret') = (secret_name IS NOT NULL))
);
