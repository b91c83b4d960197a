-- _late_items: look which of these items, that get their jobs now, come late: something after them in their
--   series was decided before.
-- Safe to repeat: no; a repeat finds none that runs again.
-- For: decide_items, which has the source's row.
-- Locks: source_item.
-- Plan: by key; one step along source_item_decided_idx for each item, and one for each that runs again.
-- reruns: what was decided after them is decided again, as far as each may stand behind the one before it;
--   false: they are marked.
-- Returns: how many came late, and how many run again.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._late_items(
    of_source_id int, items bigint[], reruns boolean, at timestamptz, OUT n_late int, OUT n_again int
) LANGUAGE plpgsql AS $$
DECLARE
    v_item weft.source_item;
    v_again bigint[];
BEGIN
    n_late := 0;
    n_again := 0;
    FOR v_item IN
        SELECT i.* FROM weft.source_item i WHERE i.source_id = of_source_id AND i.n = ANY (items) ORDER BY i.n
    LOOP
        WITH RECURSIVE again AS (
            SELECT 9223372036854775807 AS n, v_item.series_at AS series_at, v_item.series_at AS reached
            UNION ALL
            SELECT d.n, d.series_at, CASE WHEN d.state = 'job' THEN d.series_at ELSE a.reached END
            FROM again a
            CROSS JOIN LATERAL (
                SELECT x.n, x.series_at, x.series_from, x.state
                FROM weft.source_item x
                WHERE x.source_id = of_source_id
                    AND x.series = v_item.series
                    AND (x.series_at, x.n) > (a.series_at, a.n)
                    AND x.state IN ('job', 'cancelled', 'refused')
                ORDER BY x.series_at, x.n
                LIMIT 1
            ) d
            WHERE d.series_from <= a.reached AND (reruns OR a.n = 9223372036854775807)
        )
        SELECT array_agg(a.n)
        INTO v_again
        FROM again a
        WHERE a.n < 9223372036854775807;
        n_late := n_late + (v_again IS NOT NULL)::int;
        IF reruns AND v_again IS NOT NULL THEN
            UPDATE weft.source_item i
            SET
                state = 'new',
                due_at = _late_items.at,
                reason = left(
                    format('it runs again: %s came late in series %s', v_item.key, v_item.series), 1024
                )
            WHERE i.source_id = of_source_id AND i.n = ANY (v_again);
            n_again := n_again + cardinality(v_again);
        END IF;
        IF v_item.late <> (v_again IS NOT NULL AND NOT reruns) THEN
            UPDATE weft.source_item i
            SET late = NOT v_item.late
            WHERE i.source_id = of_source_id AND i.n = v_item.n;
        END IF;
    END LOOP;
END $$;
