"""The database: the SQLite engine, public ids, compiled queries."""
