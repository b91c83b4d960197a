-- _check_waiting: refuse an update whose jobs would be too many for a queue that limits how many wait.
-- Safe to repeat: yes, it only reads.   For: _at_commit; the queues are locked (_lock_limits).
-- Plan: sums over bunches; as _queue_counts.   Raises WF113.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_waiting(of_tenant_id int, of_batch_id bigint, of_update_id int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_full record;
BEGIN
    SELECT q.name, q.max_waiting, n.n, c.n_waiting AS n_waiting INTO v_full
    FROM (SELECT coalesce(s.countables ->> 'queue', 'default') AS queue, sum(b.n_pending + b.n_ready) AS n
          FROM weft.bunch_count b JOIN weft.shape s USING (shape_id) WHERE b.batch_id = of_batch_id AND b.update_id = of_update_id
          GROUP BY 1) n
    JOIN weft.queue q ON q.tenant_id = of_tenant_id AND q.name = n.queue AND q.max_waiting IS NOT NULL
    CROSS JOIN LATERAL (SELECT coalesce(sum(x.n_waiting), 0) AS n_waiting FROM weft._queue_counts(of_tenant_id, ARRAY[q.name]) x) c
    WHERE n.n + c.n_waiting > q.max_waiting ORDER BY q.name LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail('WF113', format('queue "%s" is full', v_full.name),
            format('%s jobs wait there and %s would come; it takes at most %s.', v_full.n_waiting, v_full.n, v_full.max_waiting),
            'Submit again when jobs have started, or name another queue.');
    END IF;
END $$;
