"""The slow cycle: what the persona concludes between sessions.

A session with new events requests a run (`memory.consolidation.slow_cycle_requests`). When the persona has rested
enough, or an event weighs too much to wait (`gate`), the new events are packed into a prompt (`context`), the model is
asked for thoughts, questions, expectations and threads (`prompt`) and for descriptions of the people mentioned
(`entity_descriptions`); items that pass `validate` are stored in one transaction with a row that records the run
(`persist`). `runner` is the job.
"""
