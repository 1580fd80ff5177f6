"""Local models through sentence-transformers and torch: 6 to 11 s to load and 480 MB, so only loaded if one is in
use."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from echovessel.embeddings.bundled_model import Encode
from echovessel.embeddings.errors import EmbeddingUnavailable
from echovessel.embeddings.model_names import ModelSpec
from echovessel.embeddings.server_model import as_unit_rows


def load_encoder(spec: ModelSpec) -> Encode:
    """Return a function from texts to vectors, (n, d) float32 of unit length, for a model's name or folder. Raises
    EmbeddingUnavailable."""
    if problem := spec.fault():
        raise EmbeddingUnavailable(problem)
    folder = Path(spec.model)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    if folder.is_absolute():
        os.environ["HF_HUB_OFFLINE"] = "1"  # all files are local
    try:
        import torch  # noqa: PLC0415
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer  # noqa: PLC0415
        from transformers.utils.logging import disable_progress_bar  # noqa: PLC0415
    except ImportError as error:
        raise EmbeddingUnavailable(
            f"{spec.model} needs torch and sentence-transformers, which the smaller set-up leaves out: "
            "pip install -r requirements.txt"
        ) from error

    disable_progress_bar()
    # With two threads torch was ten times slower on a busy two-core machine.
    torch.set_num_threads(1)
    try:
        if spec.pooling and folder.is_absolute() and not (folder / "modules.json").is_file():
            # A plain transformer does not define how its token vectors become one vector.
            words = Transformer(spec.model)
            pooling = Pooling(words.get_embedding_dimension(), pooling_mode=spec.pooling)
            model = SentenceTransformer(modules=[words, pooling], device="cpu")
        else:
            model = SentenceTransformer(spec.model, device="cpu")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise EmbeddingUnavailable(f"the embedding model {spec.model} cannot be loaded: {error}") from error

    def encode(texts: Sequence[str]) -> np.ndarray:
        rows: np.ndarray = model.encode(
            list(texts), prompt="", batch_size=32, convert_to_numpy=True, show_progress_bar=False
        )
        if spec.dimensions > rows.shape[1]:
            raise EmbeddingUnavailable(f"{spec.model} gives {rows.shape[1]} dimensions, too few for {spec.dimensions}.")
        return as_unit_rows(rows[:, : spec.dimensions] if spec.dimensions else rows, spec.model)

    return encode
