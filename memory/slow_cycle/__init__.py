"""The slow cycle: what the persona makes of things between talks.

A talk that left something makes her want to wonder (`wanting`). When she has rested enough, or something weighs too
much to wait (`gate`), she is given what is new (`packing`), asked what she thinks, wonders and expects (`thinking`),
and who those are that were spoken of (`describing`); what stands to reason of it (`sifting`) is stored at once with a
row that tells of the run (`storing`). `running` takes it from step to step.
"""

from memory.slow_cycle.wanting import sweep, want

__all__ = ["sweep", "want"]
