-- Groups of jobs, sets of members, and how they complete.

CREATE TABLE weft.job_group (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    tenant_id int NOT NULL,
    parent_id int,  -- NULL: the root
    update_id int,  -- NULL: the root, which comes with the batch
    name text NOT NULL,
    path text,
    depth smallint NOT NULL,
    attributes jsonb NOT NULL DEFAULT '{}',
    callback text,
    cancel_after_n_failures int CHECK (cancel_after_n_failures > 0),
    created_at timestamptz NOT NULL,
    is_set boolean NOT NULL DEFAULT false,
    hidden boolean NOT NULL DEFAULT false,
    PRIMARY KEY (batch_id, group_id),
    CONSTRAINT tree_group_has_path CHECK (is_set = (path IS NULL))
);
CREATE UNIQUE INDEX job_group_path_idx ON weft.job_group (batch_id, path);
CREATE UNIQUE INDEX job_group_set_name_idx ON weft.job_group (batch_id, name) WHERE is_set;
-- The groups directly below a group, and the batches of a tenant with jobs that failed and are not
-- acknowledged, are listed page by page: by these indexes no others are read.
CREATE INDEX job_group_parent_idx ON weft.job_group (batch_id, parent_id, group_id) WHERE parent_id
    IS NOT NULL;

-- Every group with each of its ancestors, itself included.
CREATE TABLE weft.group_ancestor (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    ancestor_id int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, group_id, ancestor_id)
);
CREATE INDEX group_ancestor_members_idx ON weft.group_ancestor (batch_id, ancestor_id, group_id);
ROWS_OF_QUERIES weft.group_ancestor;

-- Which combinations of a tree group and sets jobs belong to, interned: counters are kept by membership (ADR
-- 11).
CREATE SEQUENCE weft.membership_id_seq AS int INCREMENT -1 START -1 MINVALUE -2147483648 MAXVALUE -1;
CREATE TABLE weft.membership (
    batch_id bigint NOT NULL,
    membership_id int NOT NULL DEFAULT nextval('weft.membership_id_seq') CHECK (membership_id < 0),
    tenant_id int NOT NULL,
    group_id int NOT NULL,  -- of the tree
    set_ids int[] NOT NULL CHECK (cardinality(set_ids) > 0),  -- sorted
    PRIMARY KEY (batch_id, membership_id)
);
CREATE UNIQUE INDEX membership_groups_idx ON weft.membership (batch_id, group_id, set_ids);

CREATE TABLE weft.member_span (
    batch_id bigint NOT NULL,
    group_id int NOT NULL,
    first_job int NOT NULL,
    last_job int NOT NULL,
    tenant_id int NOT NULL,
    PRIMARY KEY (batch_id, group_id, first_job, last_job)
);
ROWS_OF_QUERIES weft.member_span;

-- Changes of a group that no other row dates; of group 0: of its batch. Those of single jobs stand in
-- weft.job_change.
CREATE TABLE weft.group_change (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    change_id bigint GENERATED ALWAYS AS IDENTITY,
    tenant_id int NOT NULL,
    at timestamptz NOT NULL,
    actor text NOT NULL,
    kind text NOT NULL,
    message text,
    PRIMARY KEY (batch_id, group_id, change_id)
);

CREATE TABLE weft.group_completion (
    batch_id bigint NOT NULL REFERENCES weft.batch ON DELETE CASCADE,
    group_id int NOT NULL,
    completion int NOT NULL,
    tenant_id int NOT NULL,
    completed_at timestamptz NOT NULL,
    owner_id int,
    project_id int,
    PRIMARY KEY (batch_id, group_id, completion)
);
CREATE INDEX group_completion_completed_idx ON weft.group_completion (tenant_id, completed_at, batch_id)
    WHERE group_id = 0;
CREATE INDEX group_completion_owner_idx ON weft.group_completion (owner_id, completed_at, batch_id)
    WHERE group_id = 0;
CREATE INDEX group_completion_project_idx ON weft.group_completion (project_id, completed_at, batch_id)
    WHERE group_id = 0;

CREATE FUNCTION weft._note_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT b.user_id, b.project_id
    INTO NEW.owner_id, NEW.project_id
    FROM weft.batch b
    WHERE b.batch_id = NEW.batch_id;
    RETURN NEW;
END $$;

CREATE TRIGGER batch_completes BEFORE INSERT ON weft.group_completion FOR EACH ROW WHEN (NEW.group_id = 0)
    EXECUTE FUNCTION weft._note_owner();
ROWS_OF_QUERIES weft.group_completion;
