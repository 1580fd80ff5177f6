"""L5: who and what memories are about."""
