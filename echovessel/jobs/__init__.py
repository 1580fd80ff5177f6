"""One engine for all work that outlives a process: consolidation, the slow cycle, imports, first words.

The rows of a table are the work, the queue only wakes a worker with a row's id. Such a table has the columns `holder`,
`lease_until` and `attempts`. One run of one row:

    acquire -> steps, each ending in a checkpoint -> release

Every step commits only while the row is leased, and sees by itself what is done already. If a worker dies, the next one
resumes after the last committed step: nothing is lost, doubled or paid twice.

    lease   which process holds a row, and whether it is dead: acquire, checkpoint, renew, release, reclaim_dead;
            replies of a model that are paid for, kept until a step has used them
    retry   whether a failed step is tried again, and when
    runner  Job: the steps of a definition, and what a fault means to its row; requeue_stale

A definition is a subclass of `Job` beside the rows it works on, with `run_steps` and `fail`, and three functions that
say which rows are free: `acquire`, `enqueue` and `requeue_stale`.
"""
