"""The frame of EchoVessel: wiring on top, infrastructure at the bottom, no domain words inside."""

import os

# Before anything loads numpy or torch: vectors are small and cores few, so that the threads of a second core cost more
# than they bring (on two cores a consolidation took 555 ms of processor time instead of 280, measured 2026-11-21).
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
