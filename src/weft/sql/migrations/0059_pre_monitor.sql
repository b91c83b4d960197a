-- The monitor (ADR 46): limits of queues on what attempts do, attempts that have one, and attempts that were stopped beyond one.
INSERT INTO weft.attempt_reason (reason, word) VALUES (16, 'overdue');
ALTER TABLE weft.queue ADD COLUMN monitor jsonb;  -- NULL: no limits
CREATE INDEX queue_monitor_idx ON weft.queue (tenant_id, name) WHERE monitor IS NOT NULL;
-- Written by heartbeats, so jobs that end before the next one are never here.
CREATE TABLE weft.attempt_watch (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    phase smallint NOT NULL,
    since timestamptz NOT NULL,  -- it is in this phase
    silent_since timestamptz,    -- its worker does not name it any more; NULL: it does
    due_at timestamptz,          -- when it is beyond a limit; NULL: it has none now
    PRIMARY KEY (batch_id, job_id)
);
CREATE INDEX attempt_watch_due_at_idx ON weft.attempt_watch (due_at);
CREATE INDEX attempt_watch_incarnation_id_idx ON weft.attempt_watch (incarnation_id);
-- Attempts that the driver has ended, and whose processes may still be there.
CREATE TABLE weft.attempt_stop (
    batch_id bigint NOT NULL,
    job_id int NOT NULL,
    attempt smallint NOT NULL,
    tenant_id int NOT NULL,
    incarnation_id int NOT NULL,
    final boolean NOT NULL,   -- its job has ended
    gone boolean NOT NULL DEFAULT false,  -- the worker has stopped it, or is gone itself
    due_at timestamptz NOT NULL,  -- when the driver looks at it: once it is gone; else then its worker is given up
    PRIMARY KEY (batch_id, job_id, attempt)
);
CREATE INDEX attempt_stop_due_at_idx ON weft.attempt_stop (due_at);
CREATE INDEX attempt_stop_incarnation_id_idx ON weft.attempt_stop (incarnation_id);
DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['attempt_watch', 'attempt_stop'] LOOP
        EXECUTE format('ALTER TABLE weft.%I ENABLE ROW LEVEL SECURITY', v_table);
        EXECUTE format('GRANT SELECT ON weft.%I TO weft_tenant', v_table);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON weft.%I TO weft_system', v_table);
        EXECUTE format('CREATE POLICY tenant_rows ON weft.%I TO weft_tenant'
            ' USING (tenant_id = (SELECT current_setting(''weft.tenant'')::int))', v_table);
        EXECUTE format('CREATE POLICY system_rows ON weft.%I TO weft_system USING (true)', v_table);
    END LOOP;
END $$;
