"""Settings of the installations that tests start: those of the product, with the hash embedder."""

from echovessel.settings import *  # noqa: F403
from tests import hash_embedder

hash_embedder.install()
