-- Work that takes long and that somebody asked for, and what of it failed.

BEGIN IMMEDIATE;

CREATE TABLE job (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    asked      TEXT    NOT NULL,           -- what was asked for, as JSON
    asked_by   TEXT    NOT NULL,           -- window, page, cli or api
    state      INTEGER NOT NULL DEFAULT 0, -- 0 waiting, 1 running, 2 done, 3 failed, 4 cancelled, 5 stopped
    top        INTEGER NOT NULL,           -- the highest number of an event when it was asked for
    position   INTEGER,                    -- where it goes on; null: at the beginning
    done       INTEGER NOT NULL DEFAULT 0, -- those that failed included
    total      INTEGER,
    failed     INTEGER NOT NULL DEFAULT 0,
    result     TEXT    NOT NULL DEFAULT '{}',
    why        TEXT,                       -- why it failed as a whole
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at   INTEGER,
    ended_age  INTEGER                     -- ended_at in store time
) STRICT;
CREATE INDEX job_unfinished ON job (id) WHERE state < 2;
CREATE INDEX job_ended ON job (ended_age) WHERE state >= 2;

CREATE TABLE job_failure (
    job   INTEGER NOT NULL REFERENCES job (id),
    n     INTEGER NOT NULL,
    event BLOB    NOT NULL,
    seq   INTEGER,
    why   TEXT    NOT NULL,
    PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;

-- What is in the bin, in order of arrival.
CREATE INDEX event_binned ON event (seq) WHERE deleted_at IS NOT NULL;

PRAGMA user_version = 19;
COMMIT;
