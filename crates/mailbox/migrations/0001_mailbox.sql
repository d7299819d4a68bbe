-- The relay's mailboxes. Append-only: a change to the schema is a new file beside this one.
-- Times are microseconds since the Unix epoch, UTC.

-- 4 KiB pages: a commit of a few small rows writes few bytes that it did not change.
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = INCREMENTAL;

BEGIN IMMEDIATE;

-- `config` counts changes to tokens and tunnels, so that what is remembered of them is known to be fresh.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('config', 0);

CREATE TABLE token (
    id         TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE,         -- SHA-256
    name       TEXT,
    created_at INTEGER NOT NULL,
    used_at    INTEGER,
    revoked_at INTEGER
) STRICT;

-- Rows stay for ever: a name is never given out again.
CREATE TABLE tunnel (
    id          INTEGER PRIMARY KEY,            -- below 2^23, see `letter`
    name        TEXT    NOT NULL UNIQUE,
    token       TEXT    NOT NULL,
    sealing_key BLOB    NOT NULL,
    sources     TEXT    NOT NULL,               -- JSON
    shut        INTEGER NOT NULL,               -- 0 open, 1 its token was revoked, 2 its last device is gone
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX tunnel_token ON tunnel (token);

-- What changes often of a tunnel, in small rows.
CREATE TABLE mark (
    tunnel        INTEGER PRIMARY KEY,
    floor         INTEGER NOT NULL,             -- letters up to here are given up, whoever lacks them
    cleared       INTEGER NOT NULL,             -- letters up to here are deleted
    cleared_bytes INTEGER NOT NULL,             -- their sealed bytes
    refused       INTEGER NOT NULL,
    refused_at    INTEGER,
    unknown       INTEGER NOT NULL
) STRICT;

CREATE TABLE device (
    tunnel  INTEGER NOT NULL,
    key     BLOB    NOT NULL,                   -- Ed25519
    name    TEXT    NOT NULL,
    cursor  INTEGER NOT NULL,                   -- letters up to here are committed there
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (tunnel, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE invite (
    code   BLOB    PRIMARY KEY,                 -- SHA-256
    tunnel INTEGER NOT NULL,
    until  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Sealed letters. The id is the tunnel's shifted left by 40, plus the position in its mailbox, which counts from 1: a
-- mailbox lies together without an index. The data come last, so that looking over letters never reads them.
CREATE TABLE letter (
    id          INTEGER PRIMARY KEY,
    upto        INTEGER NOT NULL,               -- sealed bytes of the mailbox's letters ever put, up to this one
    received_at INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    held        INTEGER NOT NULL,
    epoch       BLOB    NOT NULL,
    data        BLOB    NOT NULL
) STRICT;

PRAGMA user_version = 1;
COMMIT;
