-- Set groups, and operations: work on a whole batch that goes on in the background.

-- A tree group has a path; a set has none, and its name is unique among the sets of its batch. A set that a query is still
-- filling does not exist for readers.
ALTER TABLE weft.job_group ALTER COLUMN path DROP NOT NULL;
ALTER TABLE weft.job_group ADD COLUMN is_set boolean NOT NULL DEFAULT false;
ALTER TABLE weft.job_group ADD COLUMN hidden boolean NOT NULL DEFAULT false;
ALTER TABLE weft.job_group ADD CONSTRAINT tree_group_has_path CHECK (is_set = (path IS NULL));
CREATE UNIQUE INDEX job_group_set_name_idx ON weft.job_group (batch_id, name) WHERE is_set;

-- A combination of one tree group and some sets. It has a negative number, and stands in weft.job, weft.job_delta, weft.bunch_count
-- and weft.group_ancestor where a job that is in no set has the number of its tree group: so what is counted, cancelled and
-- claimed by group needs to know nothing of sets (ADR 11).
CREATE SEQUENCE weft.membership_id_seq AS int INCREMENT -1 START -1 MINVALUE -2147483648 MAXVALUE -1;
CREATE TABLE weft.membership (
    batch_id bigint NOT NULL,
    membership_id int NOT NULL DEFAULT nextval('weft.membership_id_seq') CHECK (membership_id < 0),
    tenant_id int NOT NULL,
    group_id int NOT NULL,         -- of the tree
    set_ids int[] NOT NULL CHECK (cardinality(set_ids) > 0),  -- sorted
    PRIMARY KEY (batch_id, membership_id)
);
CREATE UNIQUE INDEX membership_groups_idx ON weft.membership (batch_id, group_id, set_ids);
CREATE INDEX group_ancestor_members_idx ON weft.group_ancestor (batch_id, ancestor_id, group_id);

-- Where the jobs of a tree group or a membership are: a bunch says it for those that came with it, this table for those that were
-- added to a set later. Jobs of other groups may be among them.
CREATE INDEX bunch_count_group_idx ON weft.bunch_count (batch_id, group_id, first_job);
CREATE TABLE weft.member_span (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    first_job int NOT NULL,
    last_job int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, group_id, first_job, last_job)
);

CREATE TABLE weft.operation (
    operation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id int NOT NULL,
    user_id int NOT NULL,
    batch_id bigint NOT NULL,
    kind text NOT NULL CHECK (length(kind) <= 64),
    arguments jsonb NOT NULL DEFAULT '{}',
    state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'success', 'failed')),
    position bigint NOT NULL DEFAULT 0,        -- where the next step goes on; its meaning is the kind's
    n_done bigint NOT NULL DEFAULT 0,
    n_total bigint NOT NULL DEFAULT 0,
    error jsonb,                               -- a problem document; NULL: none
    result jsonb,
    trace_id text,
    idempotency_key text,
    digest bytea,
    created_at timestamptz NOT NULL,
    ended_at timestamptz
) WITH (fillfactor = 50);
CREATE INDEX operation_running_idx ON weft.operation (operation_id) WHERE state = 'running';
CREATE INDEX operation_tenant_idx ON weft.operation (tenant_id, operation_id);
CREATE INDEX operation_batch_idx ON weft.operation (batch_id);
CREATE UNIQUE INDEX operation_idempotency_key_idx ON weft.operation (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['membership', 'member_span', 'operation'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
