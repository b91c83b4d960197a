-- many_door_jobs: make $1 jobs like the newest one that came through the door $2 and has ended: one of 50
--   failed, one of 1000 runs another application, and there are 1000 names. $3: all wait instead.
WITH x AS MATERIALIZED (
    SELECT b.*
    FROM weft.batch b
    JOIN weft.foreign_state e ON e.batch_id = b.batch_id AND e.state = 6
    WHERE b.door = $2
    ORDER BY b.batch_id DESC
    LIMIT 1
),
made AS (
    SELECT
        n,
        t.id + n AS batch_id,
        n * interval '1 ms' AS later,
        CASE WHEN $3::boolean THEN 0 WHEN n % 50 = 0 THEN 7 ELSE 6 END AS state
    FROM (SELECT max(b.batch_id) AS id FROM weft.batch b) t, generate_series(1, $1::int) n
),
batches AS (
    INSERT INTO weft.batch (
        batch_id, tenant_id, user_id, project_id, queue_id, name, attributes, trace_id, created_at,
        next_update, next_job, door, foreign_id, foreign_document, foreign_kind
    ) OVERRIDING SYSTEM VALUE
    SELECT
        m.batch_id, x.tenant_id, x.user_id, x.project_id, x.queue_id, 'name ' || m.n % 1000, x.attributes,
        x.trace_id, x.created_at + m.later, x.next_update, x.next_job, x.door, gen_random_uuid() || '-007',
        x.foreign_document || jsonb_build_object(
            'name', 'name ' || m.n % 1000,
            'appId', CASE WHEN m.n % 1000 = 7 THEN 'rare-1.0' ELSE x.foreign_document ->> 'appId' END
        ),
        CASE WHEN m.n % 1000 = 7 THEN 'rare-1.0' ELSE x.foreign_kind END
    FROM made m, x
),
jobs AS (
    INSERT INTO weft.job
    SELECT r.*
    FROM made m
    CROSS JOIN x
    JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = 1
    CROSS JOIN LATERAL jsonb_populate_record(j, jsonb_build_object('batch_id', m.batch_id, 'state', m.state))
        r
),
attempts AS (
    INSERT INTO weft.attempt
    SELECT r.*
    FROM made m
    CROSS JOIN x
    JOIN weft.attempt a ON a.batch_id = x.batch_id AND a.job_id = 1
    CROSS JOIN LATERAL jsonb_populate_record(
        a,
        jsonb_build_object(
            'batch_id', m.batch_id,
            'state', m.state,
            'claimed_at', a.claimed_at + m.later,
            'started_at', a.started_at + m.later,
            'ended_at', a.ended_at + m.later
        )
    ) r
    WHERE NOT $3
),
counts AS (
    INSERT INTO weft.group_count
    SELECT r.*
    FROM made m
    CROSS JOIN x
    JOIN weft.group_count g ON g.batch_id = x.batch_id AND g.group_id = 0
    CROSS JOIN LATERAL jsonb_populate_record(
        g,
        jsonb_build_object('batch_id', m.batch_id) || CASE
            WHEN $3
                THEN
                    '{"complete": false, "n_completions": 0, "n_succeeded": 0, "n_pending": 1, "last_ended_at": null}'::jsonb
            ELSE '{}'
        END
    ) r
),
ends AS (
    INSERT INTO weft.foreign_state
    SELECT m.batch_id, e.tenant_id, e.user_id, e.door, m.state, e.changed_at + m.later
    FROM made m
    CROSS JOIN x
    JOIN weft.foreign_state e ON e.batch_id = x.batch_id
),
sums AS (
    INSERT INTO weft.foreign_count (tenant_id, door, user_id, state, n)
    SELECT x.tenant_id, x.door, x.user_id, m.state, count(*)
    FROM made m
    CROSS JOIN x
    GROUP BY GROUPING SETS ((1, 2, 3, 4), (1, 2, 3))
)
INSERT INTO weft.group_completion
SELECT r.*
FROM made m
CROSS JOIN x
JOIN weft.group_completion g ON g.batch_id = x.batch_id AND g.group_id = 0
CROSS JOIN LATERAL jsonb_populate_record(g, jsonb_build_object('batch_id', m.batch_id)) r
WHERE NOT $3
