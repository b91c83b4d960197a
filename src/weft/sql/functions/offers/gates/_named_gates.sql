-- _named_gates: the gate of this kind and name, if there is one.
-- Plan: inlined; gates by kind and key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._named_gates(
    of_kind text, of_tenant_id int, name text, of_user_id int DEFAULT NULL
) RETURNS SETOF weft.gate LANGUAGE sql STABLE AS $$
    SELECT g.*
    FROM weft._gate_kinds() k
    JOIN weft.gate g ON g.kind = of_kind
        AND g.key = weft._gate_key(k.owner, of_tenant_id, NULL, name, of_user_id)
    WHERE k.kind = of_kind
$$;
