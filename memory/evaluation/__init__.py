"""Quality of recall: the measures, and two small personas of our own to measure on (`en/` and `zh/`).

The two sets are in the archive's format, in words of our own. Of the 79 queries of each, 49 have evidence (single,
multi, temporal, talk, graph) and 30 have none: about something nobody ever mentioned (none-near), about something that
concerns nobody here (none-far), and with a word of a memory but another subject (none-word).
"""

from pathlib import Path

FOLDER = Path(__file__).parent
SETS = {"en": FOLDER / "en", "zh": FOLDER / "zh"}
