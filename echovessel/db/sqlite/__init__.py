"""Storage: a database engine on `sqlcipher3` with sqlite-vec, and declarations that Django's models lack.

ENGINE is "echovessel.db.sqlite"; `triggers` and `text_index` declare triggers and full-text indexes as data.
"""
