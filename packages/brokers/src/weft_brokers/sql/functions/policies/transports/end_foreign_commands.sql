-- end_foreign_commands: foreign programs were told these, or nobody listens.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; transport_cancel; as acknowledge_commands.
-- Plan: by key.
-- offer_ids: those that are worthless. The others: as take_foreign_commands gave them; outcomes: empty, or
--   why it was not told.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.end_foreign_commands(
    epoch bigint,
    offer_ids bigint[],
    command_ids bigint[],
    incarnation_ids int[],
    attempts smallint[],
    outcomes text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.transport_cancel c WHERE c.offer_id = ANY (end_foreign_commands.offer_ids);
    PERFORM weft.acknowledge_commands(x.i, x.c, x.a, x.o, end_foreign_commands.at)
    FROM (
        SELECT t.i, array_agg(t.c) AS c, array_agg(t.a) AS a, array_agg(t.o) AS o
        FROM unnest(
            end_foreign_commands.incarnation_ids,
            end_foreign_commands.command_ids,
            end_foreign_commands.attempts,
            end_foreign_commands.outcomes
        ) t (i, c, a, o)
        GROUP BY t.i
        ORDER BY t.i
    ) x;
END $$;
