-- What providers' APIs have listed, and what came of it.

BEGIN IMMEDIATE;

CREATE TABLE sync_report (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    source    INTEGER NOT NULL REFERENCES source (id),
    job       INTEGER NOT NULL,           -- the job that listed; jobs are forgotten sooner
    since     INTEGER NOT NULL,           -- the window, by the provider's clock
    until     INTEGER NOT NULL,
    dry_run   INTEGER NOT NULL DEFAULT 0, -- whether nothing was added
    began_at  INTEGER NOT NULL,
    began_age INTEGER NOT NULL,           -- began_at in store time
    ended_at  INTEGER,                    -- null: it runs, or the process ended before it did
    why       TEXT,                       -- why it ended early
    checked   INTEGER NOT NULL DEFAULT 0,
    here      INTEGER NOT NULL DEFAULT 0,
    added     INTEGER NOT NULL DEFAULT 0,
    missing   INTEGER NOT NULL DEFAULT 0, -- what a dry run would have added
    lost      INTEGER NOT NULL DEFAULT 0  -- what can't be recovered
) STRICT;
CREATE UNIQUE INDEX sync_report_job ON sync_report (job);
CREATE INDEX sync_report_source ON sync_report (source, id);

CREATE TABLE listed (
    source  INTEGER NOT NULL REFERENCES source (id),
    key     BLOB    NOT NULL, -- of 16 bytes: the hash of its dedupe key, or of its type and object
    object  INTEGER NOT NULL, -- whether it is an object, of which there is one item, however many events it had
    id      TEXT    NOT NULL, -- its id at the provider
    at      INTEGER NOT NULL, -- when it happened there
    kind    TEXT,             -- its type
    outcome INTEGER NOT NULL, -- 0 here, 1 added, 2 missing, 3 lost
    event   INTEGER,          -- the number of its event, which may be gone
    report  INTEGER NOT NULL, -- which report said so first
    seen    INTEGER NOT NULL, -- the last report that lists it
    why     TEXT,             -- why it can't be recovered
    PRIMARY KEY (source, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX listed_at ON listed (source, at);
CREATE INDEX listed_report ON listed (report, outcome);

-- The times when no hookmitt caught anything.
CREATE TABLE away (
    id       INTEGER PRIMARY KEY,
    began_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 27;
COMMIT;
