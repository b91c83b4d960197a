-- _sources_due: in how much time the next source is read; negative: it is overdue; NULL: none will be.
-- Safe to repeat: yes, it only reads.   Plan: the first by date.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._sources_due(busy int[]) RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT s.next_at - clock_timestamp() FROM weft.source s
    WHERE s.next_at IS NOT NULL AND s.source_id <> ALL (busy) ORDER BY s.next_at LIMIT 1
$$;
