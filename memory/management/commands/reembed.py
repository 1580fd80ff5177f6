"""Re-embed memories: with another embedding model, or where vectors are missing or damaged."""

import time
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError
from tqdm import tqdm

from echovessel.embeddings import embedding
from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.models.embedding_model import LONGEST_MODEL_NAME
from memory.store import reembedding
from memory.store.reembedding import Busy, Plan, UnsoundVectors

SAMPLE = 64
GOES_ON = "Vectors made so far are kept: run it again to continue."
INTERRUPTED = 130


class Command(BaseCommand):
    help = (
        "Without --model, re-embed memories whose vector is missing, damaged or of another model than the one in use. "
        "With --model, change the embedding model: new vectors are computed beside the old ones, which stay in use, "
        "and replace them in one step. Can be stopped and run again at any time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--model", help="a local model by name or folder, or a name that the server at EMBEDDING_BASE_URL knows"
        )
        parser.add_argument(
            "--plan",
            action="store_true",
            help="print what would be done and how long it would take, and change nothing",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        model = embedding.full_name(options["model"]) if options["model"] else None
        if model and len(model) > LONGEST_MODEL_NAME:
            raise CommandError(f"The name of a model has at most {LONGEST_MODEL_NAME} characters: {model}")
        try:
            plan = reembedding.plan(model)
            if options["plan"]:
                self._print_plan(plan)
                return
            if plan.present_count and plan.missing:
                self.stderr.write(f"{plan.present_count} of {plan.memories} vectors are there already")
            embed = partial(reembedding.change, plan.model) if plan.model != plan.in_use else reembedding.repair
            with tqdm(
                total=plan.memories, initial=plan.present_count, desc="vectors", unit="", file=self.stderr
            ) as bar:
                count = embed(bar.update)
        except KeyboardInterrupt as stopped:
            raise CommandError(f"Stopped. {GOES_ON}", returncode=INTERRUPTED) from stopped
        except OperationalError as error:
            raise CommandError(f"The database cannot be written: {error}. {GOES_ON}") from error
        except EmbeddingUnavailable as error:
            raise CommandError(f"{error}. The model in use is as before.") from error
        except Busy as error:
            raise CommandError(f"{error} {GOES_ON}") from error
        except UnsoundVectors as error:
            nodes = ", ".join(map(str, error.nodes[:10]))
            raise CommandError(f"The model gives {error} ({nodes} …). The model in use is as before.") from error
        self.stdout.write(f"{plan.model} is in use for {plan.memories} memories; {count} vectors were made")
        if plan.model != embedding.configured():
            self.stdout.write(f"Set EMBEDDING_MODEL={plan.model}, so that the settings match.")

    def _print_plan(self, plan: Plan) -> None:
        self.stdout.write(f"in use: {plan.in_use}; configured: {embedding.configured()}; to be used: {plan.model}")
        self.stdout.write(f"{plan.memories} memories, {plan.present_count} vectors there, {plan.missing} to be made")
        if plan.missing:
            texts = reembedding.sample_descriptions(SAMPLE)
            embedding.embed(texts[:1], plan.model)  # loads it
            started = time.monotonic()
            embedding.embed(texts[1:], plan.model)
            seconds = round(plan.missing * ((time.monotonic() - started) / max(1, len(texts) - 1)))
            self.stdout.write(f"takes about {timedelta(seconds=seconds)} (h:mm:ss) here")
