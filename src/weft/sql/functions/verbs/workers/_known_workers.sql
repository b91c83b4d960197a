-- _known_workers: the newest incarnation of each worker that has not ended in order, also of lost ones, which
--   may come back; of all workers if every one has ended: then the next one to start is probably one of
--   those. Workers of machines that were made for one job and those that stand for foreign programs are left
--   out.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._known_workers() RETURNS SETOF weft.worker_incarnation
LANGUAGE sql STABLE AS $$
    WITH newest AS (
        SELECT DISTINCT ON (x.worker_id) x.incarnation_id, w.deleted_at IS NULL AS is_there
        FROM weft.worker_incarnation x
        JOIN weft.worker w
        USING (worker_id)
        ORDER BY x.worker_id, x.incarnation_id DESC
    )
    SELECT i.*
    FROM newest n
    JOIN weft.worker_incarnation i
    USING (incarnation_id)
    WHERE NOT coalesce(i.offers ?| ARRAY['machine', 'foreign'], false)
        AND (n.is_there OR NOT EXISTS (SELECT FROM newest x WHERE x.is_there))
$$;
