"""One engine for all work that outlives a process: consolidation, the slow cycle, imports, first messages.

The work is stored in the rows of a table; the queue only wakes a worker with a row's id. Such a table has the columns
`holder`, `lease_until` and `attempts`. One run of one row:

    acquire -> steps, each ending in a checkpoint -> release

Every step commits only while the row is leased, and checks itself what is done already. If a worker dies, the next one
resumes after the last committed step: nothing is lost, done twice or paid twice.

    lease   which process holds a row, and whether it is dead: acquire, checkpoint, renew, release, reclaim_dead;
            paid replies of a model, stored until a step has used them
    retry   whether a failed step is tried again, and when
    runner  Job: the steps of a definition, and the effect of an error on its row; requeue_stale

A definition is a subclass of `Job` in the package of its rows, with `run_steps` and `fail`, and three functions:
`acquire`, `enqueue` and `requeue_stale`.
"""
