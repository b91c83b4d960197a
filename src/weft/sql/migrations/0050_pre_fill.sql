-- Until when a kept worker may run other jobs without delaying the one that it is kept for (ADR 39). NULL: nobody knows, it runs none.
ALTER TABLE weft.reservation ADD COLUMN fill_until timestamptz;
