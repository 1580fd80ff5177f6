"""Everything of memory that somebody opens or calls: pages, admin and API.

forms        what a person or a program sends: one set of rules for every surface
serializers  what a program gets: one shape of each thing, for the API and for commands with --json
trace        a memory with what it came from and what was concluded from it
"""
