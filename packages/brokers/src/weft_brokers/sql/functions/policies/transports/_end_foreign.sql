-- _end_foreign: record ends of attempts that foreign programs ran: of their use and output nothing is known.
-- Safe to repeat: yes.
-- Locks: as complete_attempts.
-- Plan: as complete_attempts.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_foreign(
    of_incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    start_ages_us bigint[],
    reasons smallint[],
    exit_codes int[],
    messages text[],
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n int := cardinality(job_ids);
    v_zeros bigint[] := array_fill(0::bigint, ARRAY[cardinality(job_ids)]);
BEGIN
    PERFORM weft.complete_attempts(
        of_incarnation_id, _end_foreign.batch_ids, _end_foreign.job_ids, _end_foreign.attempts,
        _end_foreign.start_ages_us, v_zeros, _end_foreign.reasons, _end_foreign.exit_codes,
        array_fill(NULL::smallint, ARRAY[v_n]),
        v_zeros, v_zeros, v_zeros, v_zeros, array_fill(false, ARRAY[v_n]),
        array_fill(NULL::int, ARRAY[v_n]),
        array_fill(NULL::bigint, ARRAY[v_n]),
        _end_foreign.messages,
        at => _end_foreign.at
    );
END $$;
