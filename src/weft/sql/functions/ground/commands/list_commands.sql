-- list_commands: what these attempts of a worker are to be told: signals, messages, and how much longer their
--   time limits are.
-- Safe to repeat: yes; an extension is told until it is acknowledged.
-- For: Store.list_commands (worker agent, on each notice on channel
--   command, after each gap in the notices, and after its claims while jobs that have not ended are
--   extended).
-- Locks: as _settle_commands.
-- Plan: commands, which are few, then jobs by key.
-- Returns: whether to ask after later claims, too; and the commands in their order.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_commands(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    at timestamptz DEFAULT clock_timestamp(),
    OUT asks_again boolean,
    OUT command_ids bigint[],
    OUT of_batch_ids bigint[],
    OUT of_job_ids int[],
    OUT of_attempts smallint[],
    OUT signals smallint[],
    OUT extensions_ms bigint[],
    OUT messages text[]
) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._settle_commands(list_commands.at);
    SELECT coalesce(bool_or(c.extend_ms IS NOT NULL), false) INTO asks_again FROM weft.job_command c;
    SELECT
        coalesce(array_agg(c.command_id ORDER BY c.command_id), '{}'),
        coalesce(array_agg(c.batch_id ORDER BY c.command_id), '{}'),
        coalesce(array_agg(c.job_id ORDER BY c.command_id), '{}'),
        coalesce(array_agg(j.attempt ORDER BY c.command_id), '{}'),
        coalesce(array_agg(c.signal ORDER BY c.command_id), '{}'),
        coalesce(array_agg(c.extend_ms ORDER BY c.command_id), '{}'),
        coalesce(array_agg(c.message ORDER BY c.command_id), '{}')
    INTO command_ids, of_batch_ids, of_job_ids, of_attempts, signals, extensions_ms, messages
    FROM weft.job_command c
    CROSS JOIN LATERAL (
        SELECT y.* FROM weft.job y WHERE y.batch_id = c.batch_id AND y.job_id = c.job_id OFFSET 0
    ) j
    WHERE j.state = STATE_RUNNING
        AND j.incarnation_id = list_commands.incarnation_id
        AND CASE
            WHEN c.extend_ms IS NOT NULL THEN c.attempt IS DISTINCT FROM j.attempt
            ELSE c.attempt = j.attempt
        END
        AND (c.batch_id, c.job_id, j.attempt) IN (
            SELECT t.b, t.j, t.a
            FROM unnest(list_commands.batch_ids, list_commands.job_ids, list_commands.attempts) t (b, j, a)
        );
END $$;
