-- What is in the bin says which job put it there, so that undoing the job restores that and nothing else. What is pinned
-- is found, so that somebody can be told that a size limit leaves no room beside it.

BEGIN IMMEDIATE;

-- Null: it was put there by itself, or by a job of which nobody knows.
ALTER TABLE binned ADD COLUMN job INTEGER;

UPDATE binned SET job = found.job FROM
    (SELECT e.seq, max(j.id) AS job FROM job j CROSS JOIN event e INDEXED BY event_bin
        ON e.deleted_at IS NOT NULL AND e.deleted_at = j.created_at
        WHERE j.kind = 'delete' GROUP BY e.seq) found
    WHERE binned.event = found.seq;

CREATE INDEX binned_job ON binned (job, event) WHERE job IS NOT NULL;

CREATE INDEX event_pinned ON event (size) WHERE pinned_at IS NOT NULL;

PRAGMA user_version = 25;
COMMIT;
