-- _serves: whether a worker with these offers can ever run a job with these requests: it offers enough of
--   each amount, each word, and of several words one. A worker that names no queues serves all of its pool;
--   otherwise a job that names no queue asks for `default`. A worker whose machine may be taken back
--   (`preemptible`) serves only jobs that bear it, and one whose machine is made for one job (`machine`) only
--   jobs that ask for such. One whose machine ends (`timeout_s`) serves only jobs whose time limits end
--   before that.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._serves(offers jsonb, asks jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT (NOT offers ? 'queue' OR offers -> 'queue' @> coalesce(asks -> 'queue', '"default"'))
        AND (NOT offers ? 'preemptible' OR asks ? 'preemptible')
        AND (NOT offers ? 'machine' OR asks ? 'machine')
        AND (
            NOT offers ? 'timeout_s'
                OR coalesce((weft._limit_range(asks)).at_most_s <= (offers ->> 'timeout_s')::int, false)
        )
        AND NOT EXISTS (
            SELECT
            FROM jsonb_each(asks) a
            WHERE a.key NOT IN ('queue', 'preemptible', 'timeout_s')
                AND NOT coalesce(
                    CASE jsonb_typeof(a.value)
                        WHEN 'number'
                            THEN jsonb_typeof(offers -> a.key) = 'number' AND offers -> a.key >= a.value
                        WHEN 'array'
                            THEN EXISTS (
                                SELECT FROM jsonb_array_elements(a.value) w WHERE offers -> a.key @> w
                            )
                        ELSE offers -> a.key @> a.value
                    END,
                    false
                )
        )
$$;
