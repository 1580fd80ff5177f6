"""Storage: a database engine on `sqlcipher3` with sqlite-vec, and two things Django's models cannot say.

ENGINE is "echovessel.db.sqlite"; `triggers` and `text_index` declare triggers and full-text indexes as data.
"""
