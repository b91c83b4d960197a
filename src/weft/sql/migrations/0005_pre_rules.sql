-- The state machine as data, and the trigger that enforces it; row-level security.
CREATE TABLE weft.job_state (
    state smallint PRIMARY KEY,
    word text NOT NULL UNIQUE
);
INSERT INTO weft.job_state VALUES
    (0, 'pending'), (1, 'ready'), (2, 'queued'), (3, 'creating'), (4, 'running'), (5, 'blocked'),
    (6, 'success'), (7, 'failed'), (8, 'error'), (9, 'cancelled');

CREATE TABLE weft.attempt_reason (
    reason smallint PRIMARY KEY,
    word text NOT NULL UNIQUE
);
INSERT INTO weft.attempt_reason VALUES
    (1, 'exit'), (2, 'signal'), (3, 'timeout'), (4, 'oom'), (5, 'disk'), (6, 'no_program'), (7, 'no_image'), (8, 'bad_spec'),
    (9, 'cancelled'), (10, 'preempted'), (11, 'lost'), (12, 'log_limit'), (13, 'system');

CREATE TABLE weft.job_transition (
    from_state smallint NOT NULL REFERENCES weft.job_state,
    to_state smallint NOT NULL REFERENCES weft.job_state,
    PRIMARY KEY (from_state, to_state)
);
INSERT INTO weft.job_transition VALUES
    (0, 1), (0, 9),
    (1, 2), (1, 3), (1, 4), (1, 8), (1, 9),
    (2, 1), (2, 4), (2, 5), (2, 9),
    (3, 1), (3, 4), (3, 8), (3, 9),
    (4, 6), (4, 7), (4, 8), (4, 9), (4, 5), (4, 1),
    (5, 1), (5, 7), (5, 8), (5, 9),
    (7, 0), (7, 1), (8, 0), (8, 1), (9, 0), (9, 1);

CREATE FUNCTION weft._refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'job b%.j% cannot go from % to %', NEW.batch_id, NEW.job_id,
            (SELECT word FROM weft.job_state WHERE state = OLD.state), (SELECT word FROM weft.job_state WHERE state = NEW.state)
        USING ERRCODE = 'WF900', DETAIL = 'The table weft.job_transition does not hold this transition.',
              HINT = 'This is a defect of weft; nothing was changed.';
END $$;

-- The WHEN clause is made from the table: one bit mask of allowed next states per state. So a legal change costs one array access
-- (0.1 microseconds) and calls no function; the test of states compares trigger, table and weft.core.states.
DO $$
DECLARE
    v_masks text;
BEGIN
    SELECT string_agg(coalesce(m.mask, 0)::text, ',' ORDER BY s.state) INTO v_masks
    FROM weft.job_state s
    LEFT JOIN LATERAL (SELECT sum(1 << t.to_state)::int AS mask FROM weft.job_transition t WHERE t.from_state = s.state) m ON true;
    EXECUTE format(
        'CREATE TRIGGER job_transition_is_legal AFTER UPDATE OF state ON weft.job FOR EACH ROW '
        'WHEN (OLD.state <> NEW.state AND ((''{%s}''::int[])[OLD.state + 1] >> NEW.state) & 1 = 0) '
        'EXECUTE FUNCTION weft._refuse_transition()', v_masks);
END $$;

DO $$
DECLARE
    v_table text;
BEGIN
    -- A table with a tenant_id shows weft_tenant only the rows of the tenant that the transaction has named.
    FOR v_table IN
        SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id'
        WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
