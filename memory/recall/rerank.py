"""The best candidates in the order of a reranker, if one is configured (echovessel/embeddings/reranker.py).

The reranker decides only the order. The candidates' own scores are redistributed in that order, so that the rules of
the selection keep their meaning. A reranker that fails, is late or returns nonsense changes nothing.
"""

import time
from collections.abc import Sequence

from echovessel.embeddings import reranker
from echovessel.embeddings.errors import EmbeddingUnavailable
from memory import knobs
from memory.recall.query import Query
from memory.recall.select import Candidate
from memory.recall.xray import RetrieverRecord

# Keeps the reranker's order between candidates of equal worth.
TIE = 1e-9


def rerank(candidates: Sequence[Candidate], question: Query) -> tuple[Sequence[Candidate], list[RetrieverRecord]]:
    """The candidates, the best ones with scores in the reranker's order; and its record for the x-ray, if it was
    asked."""
    if not reranker.is_configured() or len(candidates) < 2:
        return candidates, []
    in_order = sorted(candidates, key=lambda candidate: candidate.order)
    best, others = in_order[: knobs.rerank_candidates()], in_order[knobs.rerank_candidates() :]
    record, started_at = RetrieverRecord("rerank"), time.perf_counter()
    try:
        scores = reranker.rerank("\n".join(question.turns), [candidate.text for candidate in best])
    except EmbeddingUnavailable as error:
        record.skipped = str(error)
        return candidates, [record]
    finally:
        record.ms = round((time.perf_counter() - started_at) * 1000, 2)
    record.found = len(best)
    places = sorted(range(len(best)), key=lambda place: (-scores[place], place))
    worths = [candidate.score * candidate.brevity * (1 - TIE * place) for place, candidate in enumerate(best)]
    reordered_candidates = [
        best[place]._replace(score=worth / best[place].brevity) for place, worth in zip(places, worths, strict=True)
    ]
    return [*reordered_candidates, *others], [record]
