-- Products: what jobs say that they have made (ADR 126). They stay when their jobs are gone, so they name no
-- row of one.

CREATE TABLE weft.product (
    product_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL REFERENCES weft.tenant,
    user_id int NOT NULL,  -- of the batch, as the project: they decide who sees it
    project_id int NOT NULL,
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    line int NOT NULL CHECK (line > 0),  -- among those of the attempt
    document jsonb NOT NULL CHECK (length(document::text) <= 262144),
    inputs jsonb,  -- the files that its job got; NULL: none
    -- Of its job, as they were at its end; parameters of its line are among the attributes.
    name text,
    attributes jsonb NOT NULL DEFAULT '{}',
    kept_at timestamptz,  -- when its job ended well; NULL: it has not, and nobody sees the product
    UNIQUE (batch_id, job_id, attempt, line)
);
CREATE INDEX product_tenant_idx ON weft.product (tenant_id, product_id) WHERE kept_at IS NOT NULL;
ROWS_OF_QUERIES weft.product;
