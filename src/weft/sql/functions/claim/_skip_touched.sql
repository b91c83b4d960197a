-- _skip_touched: a job number not far below the first job of a stretch that nobody has claimed yet, where the stretch before it is claimed.
--   A claim's hint says where its own last one stood. Of 64 claimers the others have taken a thousand jobs since, and to walk over these
--   costs more than the claim: so it looks at some of them, in steps that double while the jobs are touched, then halve.
-- Called by: _pick, which looks at what is below the returned number last.   Safe to repeat: yes, it only reads.
-- Plan: job by key, some 2 * log2(jobs skipped / 64) times. It runs with the settings of its caller.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._skip_touched(of_batch_id bigint, from_job int, to_job int, snapshot pg_snapshot) RETURNS int
LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
DECLARE
    v_from bigint := from_job; v_step bigint := 64; v_doubles boolean := true;
BEGIN
    WHILE v_step >= 64 LOOP
        IF v_from + v_step <= to_job AND EXISTS (
            SELECT FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = v_from + v_step AND NOT j.listed
                AND (j.state > STATE_READY OR NOT weft._is_untouched(j.xmax, snapshot))) THEN
            v_from := v_from + v_step;
        ELSE
            v_doubles := false;
        END IF;
        v_step := CASE WHEN v_doubles THEN v_step * 2 ELSE v_step / 2 END;
    END LOOP;
    RETURN v_from;
END $$;
