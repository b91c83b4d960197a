-- offer_jobs: offer ready jobs to their transports: those that a claim would take first, as many as the
--   consumers of each queue have free slots, and a stock ahead, or as foreign programs have slots. The jobs
--   are queued, and their offers due to be sent. Offers beyond that are withdrawn.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _withdraw_excess; as _offer_part; as _announce. It never waits.
-- Plan: the lanes of transports, which are few; live workers that consume; as claim_jobs, whose settings it
--   has; so do _fair_shares and _offer_part.
-- Fair share: as claims, by jobs instead of mCPU. What users leave of their shares, because they have less
--   here, is shared again.
-- stock_keys, stocks: how many each queue has ahead; one that is not named has as many as its consumers have
--   slots, and keeps those that it has.
-- Returns: of each queue with consumers, by its key: their slots, how many offers waited for them, and how
--   many are new. Foreign programs have no stock, and the key ''.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.offer_jobs(
    epoch bigint, transports text[], limit_jobs int, stock_keys text[], stocks int[]
) RETURNS TABLE (key text, slots int, waiting int, offered int) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_queue record;
    v_consumer weft.worker_incarnation;
    v_shares weft.shares;
    v_several boolean;
    v_keep int;
    v_left int;
    v_now int;
    v_part int;
    v_got int;
    v_n int := 0;
BEGIN
    FOR v_queue IN SELECT * FROM weft._consumed_lanes(offer_jobs.transports) LOOP
        offered := 0;
        slots := v_queue.slots;
        waiting := v_queue.waiting;
        key := CASE
            WHEN v_queue.tenant_id IS NULL
                THEN concat_ws(' ', v_queue.pool_id, v_queue.transport, v_queue.queue)
            ELSE ''
        END;
        v_keep := greatest(slots - v_queue.busy, 0);
        v_keep := v_keep + CASE
            WHEN v_queue.tenant_id IS NULL
                THEN coalesce(
                    offer_jobs.stocks[array_position(offer_jobs.stock_keys, key)],
                    greatest(slots, waiting - v_keep)
                )
            ELSE 0
        END;
        IF waiting > v_keep THEN
            PERFORM weft._withdraw_excess(
                v_queue.pool_id, v_queue.tenant_id, v_queue.queue, v_queue.transport, v_keep
            );
        END IF;
        v_left := least(v_keep - waiting, offer_jobs.limit_jobs - v_n);
        v_consumer.cpu_m := v_queue.cpu_m;
        v_consumer.memory_mib := v_queue.memory_mib;
        v_consumer.pool_id := v_queue.pool_id;
        v_several := (
            SELECT count(*) > 1
            FROM (SELECT FROM weft.user_share s WHERE s.pool_id = v_queue.pool_id AND s.active LIMIT 2) x
        );
        -- What can start now is shared by itself, then what is ahead: messages are taken in the order of the
        -- offers.
        v_now := least(greatest(slots - v_queue.busy - waiting, 0), v_left);
        WHILE v_left > 0 LOOP
            v_part := CASE WHEN v_several AND v_now > 0 THEN v_now ELSE v_left END;
            v_shares := CASE
                WHEN v_several
                    THEN weft._fair_shares(v_queue.pool_id, v_part, 64, v_queue.lanes, v_queue.tenant_id)
            END;
            EXIT WHEN v_several AND v_shares IS NULL;
            v_got := weft._offer_part(
                v_consumer,
                v_queue.tenant_id,
                v_queue.queue,
                v_queue.transport,
                v_queue.lanes,
                v_shares,
                v_part
            );
            IF v_got = 0 AND v_several THEN  -- jobs of those who have a share cannot start now
                v_several := false;
                CONTINUE;
            END IF;
            v_left := v_left - v_got;
            v_now := v_now - v_got;
            offered := offered + v_got;
            EXIT WHEN NOT v_several;
        END LOOP;
        v_n := v_n + offered;
        RETURN NEXT;
    END LOOP;
    IF v_n > 0 THEN
        PERFORM weft._announce();
    END IF;
END $$;
