-- What the steps of a claim hand to each other. Types, not tables: nothing of them is stored.

-- Ready work that a claim looks at next – listed jobs of one user, rank and batch, or one range – and at the same time the position
-- from which the next one is found.
CREATE TYPE weft.offer AS (
    pass int,                      -- 1: users whose jobs were not claimed since the last fold; 2: the others
    load double precision,         -- of the user
    user_id int,                   -- 0: before the first user
    tenant_id int,
    rank smallint,                 -- minus priority; 0 of a range
    batch_id bigint,               -- NULL: nothing is left
    first_job int,                 -- of the range; 0: listed jobs
    last_job int,                  -- of the range
    low_job int,                   -- low mark of the range, or the first of the listed jobs
    runnable_id bigint             -- 0: listed jobs
);

-- Jobs that a claim has locked, in the order in which they are served.
CREATE TYPE weft.picked AS (
    job_ids int[],                 -- NULL: none
    tids tid[],
    queue_tids tid[],              -- of their rows in ready_job; NULL: they stand in a range
    cpus_m int[],
    memories_mib int[],
    cpu_m bigint,                  -- sums
    memory_mib bigint
);
