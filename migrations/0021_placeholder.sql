-- Stands for a migration that comes from elsewhere.
PRAGMA user_version = 21;
