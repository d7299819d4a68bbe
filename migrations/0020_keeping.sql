-- What people mark events with, who did what, and which requests were refused.

BEGIN IMMEDIATE;

-- Bit 32 of an event's `flags` says that it has tags. `key` is the name in lower case, by which tags are compared.
CREATE TABLE tag (
    event  INTEGER NOT NULL,
    key    TEXT    NOT NULL,
    name   TEXT    NOT NULL,                    -- as it was first written
    binned INTEGER NOT NULL DEFAULT 0,          -- its event is in the bin
    PRIMARY KEY (event, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_key ON tag (key, binned, event);

-- Who moved an event to the bin. No row: an earlier version did, or nobody asked for it.
CREATE TABLE binned_by (
    event INTEGER PRIMARY KEY,
    who   INTEGER NOT NULL
) STRICT;

-- The audit trail. It ages by `stored_at`, which is store time and grows with `id`.
CREATE TABLE audit (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,                 -- by the wall clock
    stored_at INTEGER NOT NULL,
    who       INTEGER NOT NULL,
    what      INTEGER NOT NULL,
    event     BLOB,                             -- its id; it may be gone
    seq       INTEGER,
    source    TEXT,                             -- its name
    target    TEXT,                             -- the origin of its URL
    detail    TEXT                              -- JSON, without secrets
) STRICT;

-- Requests that were refused. It ages like the audit trail.
CREATE TABLE refusal (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    at        INTEGER NOT NULL,                 -- by the wall clock
    stored_at INTEGER NOT NULL,
    remote    TEXT    NOT NULL,
    method    TEXT,
    target    TEXT,                             -- as it was called
    host      TEXT,
    status    INTEGER NOT NULL,
    code      TEXT    NOT NULL,
    message   TEXT    NOT NULL,
    source    TEXT,                             -- the name that was called
    provider  TEXT,
    size      INTEGER,
    more      INTEGER NOT NULL                  -- how many like it have no row
) STRICT;

-- A search finds events by their tags. Their notes and pins are watched already.
CREATE TRIGGER tag_is_added AFTER INSERT ON tag
WHEN NEW.event <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (NEW.event, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER tag_is_removed AFTER DELETE ON tag
WHEN OLD.event <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (OLD.event, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;

PRAGMA user_version = 20;
COMMIT;
