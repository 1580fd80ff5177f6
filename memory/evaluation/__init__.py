"""How well memory recalls: the measures, and two small personas of our own to measure on (`en/` and `zh/`).

The two sets are in the archive's format, in words of our own. Of the 79 queries of each 49 have evidence (single,
multi, temporal, talk, graph) and 30 have none: what nobody ever said (none-near), what concerns nobody here
(none-far), and what shares a word with a memory (none-word).
"""

from pathlib import Path

FOLDER = Path(__file__).parent
SETS = {"en": FOLDER / "en", "zh": FOLDER / "zh"}
