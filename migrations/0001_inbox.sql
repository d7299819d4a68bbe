-- The inbox. Append-only: a change to the schema is a new file beside this one.
-- Times are microseconds since the Unix epoch, UTC. Enumerations are positions in the words' ALL lists.

-- 4 KiB pages: a commit of many small rows writes few bytes it did not change.
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = INCREMENTAL;

BEGIN IMMEDIATE;

-- Small facts about this file: `instance` names it in the keychain, `config` counts changes to sources and targets.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('instance', lower(hex(randomblob(8)))), ('config', 0);

CREATE TABLE source (
    id           INTEGER PRIMARY KEY,
    slug         TEXT    NOT NULL UNIQUE,
    provider     TEXT,
    settings     TEXT    NOT NULL,              -- JSON
    auto_created INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    removed_at   INTEGER                        -- its events stay; the slug can come back
) STRICT;

-- One captured request. Bodies come last, so that a list never reads them.
CREATE TABLE event (
    seq          INTEGER PRIMARY KEY,           -- given out by the writer, never given again
    id           BLOB    NOT NULL,              -- UUIDv7
    source       INTEGER NOT NULL,
    received_at  INTEGER NOT NULL,
    via          INTEGER NOT NULL,
    verdict      INTEGER NOT NULL,
    flags        INTEGER NOT NULL,              -- 1 browser, 2 conflict, 4 stale
    provider     TEXT,
    type         TEXT,
    title        TEXT,
    event_time   INTEGER,
    object       TEXT,
    dedupe_key   TEXT,
    duplicate_of BLOB,                          -- the first event's id
    parent       BLOB,
    arrival_key  BLOB,                          -- tunnel + sequence, or sync id
    handshake    TEXT,
    causes       TEXT,                          -- JSON, likeliest first
    deleted_at   INTEGER,
    pinned_at    INTEGER,
    note         TEXT,
    remote       TEXT,
    url          TEXT,                          -- where it isn't http:// + Host + target
    method       TEXT    NOT NULL,
    path         TEXT    NOT NULL,
    query        TEXT,
    version      INTEGER NOT NULL,
    size         INTEGER NOT NULL,
    sha256       BLOB    NOT NULL,
    headers      BLOB    NOT NULL,              -- the wire's own lines
    body         BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX event_id ON event (id);
CREATE UNIQUE INDEX event_arrival ON event (arrival_key) WHERE arrival_key IS NOT NULL;
CREATE INDEX event_copies ON event (duplicate_of, deleted_at, flags) WHERE duplicate_of IS NOT NULL;
CREATE INDEX event_source ON event (source);
CREATE INDEX event_invalid ON event (verdict, deleted_at) WHERE verdict = 1 AND deleted_at IS NULL;
CREATE INDEX event_bin ON event (deleted_at) WHERE deleted_at IS NOT NULL;

-- Running totals: what is counted over all events would else read every one of them.
CREATE TABLE tally (
    source     INTEGER NOT NULL,
    verdict    INTEGER NOT NULL,
    events     INTEGER NOT NULL,                -- not in the bin
    duplicates INTEGER NOT NULL,                -- those of them that repeat another
    bytes      INTEGER NOT NULL,                -- of their bodies
    deliveries INTEGER NOT NULL,                -- ever made; only the sum over all rows says something
    PRIMARY KEY (source, verdict)
) STRICT, WITHOUT ROWID;

-- Who owns a dedupe key. Outlives the pruning of its event.
CREATE TABLE first_key (
    source INTEGER NOT NULL,
    key    BLOB    NOT NULL,                    -- the first 16 bytes of SHA-256 over the dedupe key
    seq    INTEGER NOT NULL,
    id     BLOB    NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (source, key)
) STRICT, WITHOUT ROWID;

-- The newest event already delivered for an object: what an older one is stale against.
CREATE TABLE object_clock (
    source INTEGER NOT NULL,
    object TEXT    NOT NULL,
    newest INTEGER NOT NULL,
    PRIMARY KEY (source, object)
) STRICT, WITHOUT ROWID;

CREATE TABLE target (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    source     INTEGER,                         -- null: every source
    url        TEXT    NOT NULL,
    settings   TEXT    NOT NULL,                -- JSON
    kind       INTEGER NOT NULL,                -- 0 kept, 1 ends with its command, 2 a URL given once
    paused     INTEGER NOT NULL DEFAULT 0,
    down_since INTEGER,                         -- nobody answers there since then
    down_error TEXT,                            -- what was said; holds for everything that waits for it
    created_at INTEGER NOT NULL,
    removed_at INTEGER
) STRICT;

CREATE TABLE delivery (
    event       INTEGER NOT NULL,
    number      INTEGER NOT NULL,               -- among the event's deliveries, from 1
    target      INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    replay      INTEGER NOT NULL DEFAULT 0,
    attempts    INTEGER NOT NULL DEFAULT 0,
    due_at      INTEGER,                        -- null: at once
    claim       INTEGER,                        -- the worker's token, while processing
    lease_until INTEGER,
    last_error  TEXT,
    ended_at    INTEGER,
    PRIMARY KEY (event, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_waiting ON delivery (target, event, number, due_at, state) WHERE state IN (0, 1);
CREATE INDEX delivery_unsent ON delivery (state, event) WHERE state IN (3, 4, 5);

CREATE TABLE attempt (
    event      INTEGER NOT NULL,
    delivery   INTEGER NOT NULL,
    number     INTEGER NOT NULL,                -- from 1
    started_at INTEGER NOT NULL,
    duration   INTEGER NOT NULL,                -- microseconds
    status     INTEGER,
    error      TEXT,
    truncated  INTEGER NOT NULL,
    headers    BLOB,
    body       BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX attempt_of ON attempt (event, delivery, number);

PRAGMA user_version = 1;
COMMIT;
