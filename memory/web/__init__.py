"""Everything of memory that somebody opens or calls: pages, admin and API.

forms           what a memory may be: one set of rules for page, admin and API
forget_form     the choice about forgetting, for page and admin; API and command make the same by `make_choice`
entity_actions  what a person does to an entity, for page and admin
serializers     what a program gets: one shape of each thing, for the API and for commands with --json
presenters/     what a page shows, one module for each
trace           a memory with what it came from and what was concluded from it
"""
