"""The bundled model, turned around in its space: every vector differs, and all distances are the same."""

import shutil
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from safetensors.numpy import load_file, save_file

from echovessel.embeddings import bundled_model, embedding
from memory.models import ConceptNode
from memory.recall import Recall, recall
from memory.store import active_model, vectors
from persona.models import Persona

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.real_embeddings]
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
TOLD = (
    "Ana keeps bees behind her house.",
    "Ana's grandmother died in spring.",
    "Ana wants to learn the violin.",
    "Ana moved to Lyon with her cat Milo.",
    "Ana is afraid of the dentist.",
)


@pytest.fixture
def turned(tmp_path: Path) -> Iterator[Path]:
    """A folder of a sentence-transformers model that makes the bundled one's vectors with every second sign changed."""
    folder = tmp_path / "turned"
    shutil.copytree(bundled_model.FOLDER, folder)
    weights = load_file(folder / "model.safetensors")
    signs = np.where(np.arange(embedding.DIMENSION) % 2, -1, 1).astype(np.float32)
    for name in ("weight", "bias"):
        weights[f"encoder.layer.5.output.LayerNorm.{name}"] *= signs
    (folder / "model.safetensors").chmod(0o644)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    yield folder
    embedding.use("")


def asked(persona: Persona) -> Recall:
    return recall(persona, ["Shall I take lessons on the violin?"], now=NOW, budget_tokens=60)


# `test_reembedding` does it with words in the place of a model.
@pytest.mark.campaign
def test_memories_are_recalled_by_another_model_of_a_folder(
    mira: Persona, remember: Callable[..., ConceptNode], turned: Path
) -> None:
    nodes = [remember(mira, text) for text in TOLD]
    before, old = asked(mira), vectors.of(node.pk for node in nodes)
    assert before.items[0].content == TOLD[2]
    out = StringIO()
    call_command("reembed", model=str(turned), stdout=out, stderr=StringIO())
    assert f"Set EMBEDDING_MODEL={turned.resolve()}" in out.getvalue()
    new = vectors.of(node.pk for node in nodes)
    signs = np.where(np.arange(embedding.DIMENSION) % 2, -1, 1)
    for node in nodes:
        assert new[node.pk] @ (old[node.pk] * signs) > 0.997
    after = asked(mira)
    assert (
        after.items[0].content == before.items[0].content
    )  # what talk has in common is Chinese as well, and differs a little
    assert after.items[0].score == pytest.approx(before.items[0].score, abs=0.05)


def test_a_folder_that_holds_no_model_changes_nothing(
    mira: Persona, remember: Callable[..., ConceptNode], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library is asked in the campaign alone: it takes five seconds to load."""

    def fails(folder: str, **_options: object) -> None:
        raise OSError(f"{folder} does not appear to have a file named pytorch_model.bin or model.safetensors.")

    library = SimpleNamespace(SentenceTransformer=fails, modules=SimpleNamespace(Pooling=None, Transformer=None))
    for name, module in {
        "torch": SimpleNamespace(set_num_threads=lambda count: None),
        "sentence_transformers": library,
        "sentence_transformers.sentence_transformer.modules": library.modules,
        "transformers.utils.logging": SimpleNamespace(disable_progress_bar=lambda: None),
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    check_cannot_be_loaded(remember(mira, TOLD[0]), tmp_path)


@pytest.mark.campaign
def test_neither_an_empty_folder_nor_half_a_model_is_loaded(
    mira: Persona, remember: Callable[..., ConceptNode], turned: Path
) -> None:
    node = remember(mira, TOLD[0])
    (turned / "config.json").unlink()
    check_cannot_be_loaded(node, turned)
    shutil.rmtree(turned)
    turned.mkdir()
    check_cannot_be_loaded(node, turned)


def check_cannot_be_loaded(node: ConceptNode, folder: Path) -> None:
    before = vectors.of([node.pk])[node.pk].tobytes()
    with pytest.raises(CommandError, match="cannot be loaded"):
        call_command("reembed", model=str(folder), stdout=StringIO(), stderr=StringIO())
    assert active_model.model_in_use() == embedding.BUNDLED
    assert vectors.of([node.pk])[node.pk].tobytes() == before
