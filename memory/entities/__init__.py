"""L5: the people, places and things that memories are about."""
