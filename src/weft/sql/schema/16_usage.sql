-- What was used, and by whom.

-- A part of what is to be priced: the owner is a number as the reader likes.
CREATE TYPE weft.cost_part AS (
    owner bigint, rate_card_id smallint, cpu numeric, memory numeric, storage numeric, gpu numeric
);

CREATE TABLE weft.group_usage (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (batch_id, group_id, rate_card_id, shape_id)
) WITH (fillfactor = 50);
ROWS_OF_QUERIES weft.group_usage;

-- What each batch that is not removed has used, by date.
CREATE TABLE weft.batch_usage (
    batch_id bigint NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    project_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (batch_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);
-- A report reads the dates of its period.
CREATE INDEX batch_usage_project_idx ON weft.batch_usage (project_id, usage_on);

CREATE TABLE weft.project_usage (
    project_id int NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);

-- What each user has used in a billing project, by date.
CREATE TABLE weft.user_usage (
    project_id int NOT NULL,
    user_id int NOT NULL,
    usage_on date NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, user_id, usage_on, rate_card_id, shape_id)
) WITH (fillfactor = 50);
CREATE INDEX user_usage_user_idx ON weft.user_usage (user_id);
CREATE INDEX user_usage_date_idx ON weft.user_usage (usage_on);

-- What the attempts of removed batches have used: with the attempts that are there it explains
-- weft.project_usage to the millisecond.
CREATE TABLE weft.removed_usage (
    project_id int NOT NULL,
    rate_card_id smallint NOT NULL,
    shape_id int NOT NULL,
    tenant_id int NOT NULL,
    usage_ms bigint NOT NULL,
    PRIMARY KEY (project_id, rate_card_id, shape_id)
);

-- What was used on each date, as milliseconds times what was asked for of each resource: what pages show of
-- costs is read from few rows, however many shapes, users and billing projects there are. Folded with the
-- counters.
CREATE TABLE weft.usage_sum (
    tenant_id int NOT NULL,
    project_id int NOT NULL,  -- 0: all billing projects of the tenant
    user_id int NOT NULL,  -- 0: all users
    usage_on date NOT NULL,  -- -infinity: all dates together, for a billing project and all users
    rate_card_id smallint NOT NULL,
    cpu numeric NOT NULL,
    memory numeric NOT NULL,
    storage numeric NOT NULL,
    gpu numeric NOT NULL,
    PRIMARY KEY (tenant_id, project_id, user_id, usage_on, rate_card_id)
) WITH (fillfactor = 50);

-- How much is stored, by the owners of batches, and, as user 0, for all of a tenant (batch_storage).
CREATE TABLE weft.user_storage (
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    n_bytes bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
) WITH (fillfactor = 50);
