"""Confirming: by a digest a confirmation says which plan it confirms."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from django.utils.crypto import salted_hmac

from memory.forgetting.types import Choice, Target


def digest_of(targets: Iterable[Target], choice: Choice, told: Mapping[str, Any]) -> str:
    """The digest of a plan by its targets, its choice and what it told; nobody without the installation's secret can
    make one up."""
    chosen = {**asdict(choice), "staying": sorted(choice.staying), "mentions": sorted(choice.mentions)}
    confirmed = json.dumps([sorted((one.kind, one.key) for one in targets), chosen, told], sort_keys=True)
    return salted_hmac("memory.forgetting.plan", confirmed, algorithm="sha256").hexdigest()
