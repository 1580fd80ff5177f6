"""The frame of EchoVessel: wiring of the apps, and infrastructure without domain terms."""

import os

# Set before anything loads numpy or torch: vectors are small and cores few, so a second core's threads cost more than
# they gain (on two cores a consolidation took 555 ms of processor time instead of 280, measured 2026-11-21).
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")
