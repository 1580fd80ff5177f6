"""The web layer of memory: pages, admin and API.

forms           rules for the fields of a memory: one set for page, admin and API
forget_form     the choices about forgetting, for page and admin; API and command build them with `make_choice`
entity_actions  actions of a person on an entity, for page and admin
serializers     the JSON shape of each thing, for the API and for commands with --json
presenters/     the content of pages, one module for each
trace           a memory with its sources and its conclusions
"""
