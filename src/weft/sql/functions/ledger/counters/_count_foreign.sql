-- _count_foreign: count a job of a door, by 1 or -1. One call of some hundreds makes one row of those before.
-- Safe to repeat: no.
-- Locks: foreign_count (SKIP LOCKED).
-- Plan: rows of the door by index.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._count_foreign(
    of_tenant_id int, of_door text, of_user_id int, in_state smallint, by int
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.foreign_count (tenant_id, door, user_id, state, n)
    VALUES (of_tenant_id, of_door, of_user_id, in_state, by);
    IF random() > 0.004 THEN
        RETURN;
    END IF;
    WITH gone AS (
        DELETE FROM weft.foreign_count f
        WHERE f.ctid = ANY (
            ARRAY(
                SELECT x.ctid
                FROM weft.foreign_count x
                WHERE x.tenant_id = of_tenant_id AND x.door = of_door
                LIMIT 2000
                FOR UPDATE SKIP LOCKED
            )
        )
        RETURNING f.*
    )
    INSERT INTO weft.foreign_count (tenant_id, door, user_id, state, n)
    SELECT g.tenant_id, g.door, g.user_id, g.state, sum(g.n)
    FROM gone g
    GROUP BY 1, 2, 3, 4
    HAVING sum(g.n) <> 0;
END $$;
