-- The inbox's history in numbers, by the hour. It outlives the events: what is deleted has been counted.

BEGIN IMMEDIATE;

-- Hours are counted from the Unix epoch, UTC. `status` is that of the event's deliveries; what is being sent counts as
-- pending. An event is counted once: when its verdict or status changes, it moves to another row.
CREATE TABLE hourly (
    hour       INTEGER NOT NULL,                -- in which the event was received
    source     INTEGER NOT NULL,
    via        INTEGER NOT NULL,
    verdict    INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    events     INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,                -- those of them that repeat another
    bytes      INTEGER NOT NULL,                -- of their bodies
    kept       INTEGER NOT NULL,                -- those of them that were not deleted for good
    changed_at INTEGER NOT NULL,                -- in store time
    PRIMARY KEY (hour, source, via, verdict, status)
) STRICT, WITHOUT ROWID;
CREATE INDEX hourly_gone ON hourly (changed_at) WHERE kept = 0;

-- How long it took to store an event (kind 0), or to hear a target's answer (kind 1): a histogram.
CREATE TABLE latency (
    hour       INTEGER NOT NULL,
    source     INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    counts     BLOB    NOT NULL,                -- microseconds and how often, each in four bytes
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (hour, source, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX latency_old ON latency (changed_at);

-- Events up to this number are not counted yet: earlier versions stored them.
INSERT INTO meta SELECT 'uncounted', coalesce(max(seq), 0) FROM event;

PRAGMA user_version = 23;
COMMIT;
