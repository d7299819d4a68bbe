-- A flood of refusals of one status leaves those of others their share, which are counted by status.

BEGIN IMMEDIATE;

CREATE INDEX refusal_status ON refusal (status, id);

PRAGMA user_version = 24;
COMMIT;
