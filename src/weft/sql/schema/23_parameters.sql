-- Parameters of production lines: values that configurations read, each version of them
-- (docs/guides/production-lines.md).

CREATE TABLE weft.parameter_version (
    tenant_id int NOT NULL REFERENCES weft.tenant,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    version int NOT NULL CHECK (version > 0),  -- 1, 2, ...; the last one counts
    -- of all versions
    type text NOT NULL CHECK (type IN ('text', 'integer', 'number', 'boolean', 'date', 'list')),
    value jsonb NOT NULL CHECK (length(value::text) <= 16384),
    set_at timestamptz NOT NULL,
    set_by text NOT NULL,
    setup text,  -- whose file has set it; NULL: a person
    PRIMARY KEY (tenant_id, name, version)
);
-- A version is written once.
REVOKE ALL ON weft.parameter_version FROM weft_tenant, weft_system;
GRANT SELECT, INSERT ON weft.parameter_version TO weft_tenant;
GRANT SELECT ON weft.parameter_version TO weft_system;
