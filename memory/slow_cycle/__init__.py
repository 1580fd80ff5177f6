"""The slow cycle: what the persona makes of things between sessions.

A session that left something requests a run (`memory.consolidation.slow_cycle_requests`). When the persona has rested
enough, or something weighs too much to wait (`gate`), the new events are packed into a prompt (`context`), the model is
asked for thoughts, questions, expectations and threads (`prompt`) and for descriptions of the people mentioned
(`entity_descriptions`); what passes `validate` is stored in one transaction with a row that records the run
(`persist`). `runner` is the job.
"""
