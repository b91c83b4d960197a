-- _fit_budget: the first picked jobs whose total cpu and memory stay within a budget, and of them those that
--   begin below a share of cpu; but at least at_least jobs.
-- Safe to repeat: yes, it reads its arguments only.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._fit_budget(
    picked weft.picked, budget_cpu_m bigint, budget_memory_mib bigint, share_m bigint, at_least int
) RETURNS weft.picked LANGUAGE sql IMMUTABLE AS $$
    SELECT
        (picked).job_ids[:f.n],
        (picked).tids[:f.n],
        (picked).queue_tids[:f.n],
        (picked).cpus_m[:f.n],
        (picked).memories_mib[:f.n],
        (SELECT sum(c) FROM unnest((picked).cpus_m[:f.n]) c),
        (SELECT sum(m) FROM unnest((picked).memories_mib[:f.n]) m)
    FROM (
        SELECT greatest(
            count(*) FILTER (
                WHERE x.cpu_m <= budget_cpu_m
                    AND x.memory_mib <= budget_memory_mib
                    AND x.cpu_m - x.own_m < share_m
            ),
            at_least
        )::int AS n
        FROM (
            SELECT t.c AS own_m, sum(t.c) OVER w AS cpu_m, sum(t.m) OVER w AS memory_mib
            FROM unnest((picked).cpus_m, (picked).memories_mib) WITH ORDINALITY t (c, m, n)
            WINDOW w AS (ORDER BY t.n ROWS UNBOUNDED PRECEDING)
        ) x
    ) f
$$;
