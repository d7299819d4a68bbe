-- Letters, devices, codes and shut tunnels age by the store's own clock, which no step of the wall clock moves. It tells
-- "store time": microseconds, about those of the wall clock at first. What was noted before counts from when this is run.

BEGIN IMMEDIATE;

-- One row: the clock as it was noted last, and since when a relay has been there. The store writes it when it is opened
-- first, and with it what is left at 0 here.
CREATE TABLE clock (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    store INTEGER NOT NULL,
    wall  INTEGER NOT NULL,
    since INTEGER NOT NULL                       -- store time
) STRICT;
DELETE FROM meta WHERE key IN ('present_at', 'present_for');             -- what `since` takes the place of

ALTER TABLE device ADD COLUMN there_at INTEGER NOT NULL DEFAULT 0;       -- store time; seen_at is shown
ALTER TABLE invite ADD COLUMN store_until INTEGER NOT NULL DEFAULT 0;    -- it ends then, or at `until`
-- tunnel.shut_at is store time from now on.

-- When letters were put: those of a mailbox from this id on no earlier than then, and less than a minute later up to the
-- next row. A column of `letter` would lie behind the data, and cost a walk through them.
CREATE TABLE put (
    id INTEGER PRIMARY KEY,                      -- a letter's
    at INTEGER NOT NULL                          -- store time
) STRICT;

PRAGMA user_version = 7;
COMMIT;
