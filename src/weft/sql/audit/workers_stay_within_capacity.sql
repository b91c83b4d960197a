-- At no moment did the running attempts of a worker ask for more cpu or memory than it has.
-- Times are those of receipt minus an age, and two reports may travel for different times: an attempt counts from 1 s after its start.
WITH point AS (
    SELECT a.incarnation_id, a.started_at + interval '1 second' AS at, s.cpu_m, s.memory_mib FROM weft.attempt a JOIN weft.shape s
        USING (shape_id) WHERE a.started_at IS NOT NULL AND a.started_at + interval '1 second' < a.ended_at
    UNION ALL
    SELECT a.incarnation_id, a.ended_at, -s.cpu_m, -s.memory_mib FROM weft.attempt a JOIN weft.shape s USING (shape_id)
        WHERE a.started_at IS NOT NULL AND a.started_at + interval '1 second' < a.ended_at
    UNION ALL
    SELECT j.incarnation_id, j.started_at, s.cpu_m, s.memory_mib FROM weft.job j JOIN weft.shape s USING (shape_id) WHERE j.state = 4
        AND j.started_at IS NOT NULL),
level AS (
    SELECT p.incarnation_id, p.at, sum(p.cpu_m) OVER w AS cpu_m, sum(p.memory_mib) OVER w AS memory_mib
    FROM (SELECT incarnation_id, at, sum(cpu_m) AS cpu_m, sum(memory_mib) AS memory_mib FROM point GROUP BY 1, 2) p
    WINDOW w AS (PARTITION BY p.incarnation_id ORDER BY p.at))
SELECT l.incarnation_id, l.at, l.cpu_m, i.cpu_m AS cpu_m_max, l.memory_mib, i.memory_mib AS memory_mib_max
FROM level l JOIN weft.worker_incarnation i USING (incarnation_id)
WHERE l.cpu_m > i.cpu_m OR l.memory_mib > i.memory_mib
