"""The shape of a provider, after django.core.mail: a dotted path, a base class, one method, small twins."""

from collections.abc import AsyncGenerator, Mapping

from django.conf import settings

from echovessel.llm.request import Finished, Request, ResponseSchema, Thought, Tier
from echovessel.llm.tiers import Models, chosen_model


class Provider:
    """One way to reach a model. Subclasses give `name`, `defaults` and `stream`."""

    name: str
    defaults: Models

    def model(self, tier: Tier) -> str:
        """The model that serves `tier`."""
        return chosen_model(tier, self.defaults)

    def price(self, model: str) -> Mapping[str, float] | None:
        """US dollars per million tokens as {"in", "cached", "out"}, or None where nobody told us."""
        return settings.LLM_PRICES.get(model)

    def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Thought | Finished, None]:
        """The reply in pieces and then one `Finished`; with a `shape` the pieces join to JSON of that shape. Reasoning
        that the server tells apart from the reply comes as `Thought`.

        Raises `LLMError` and nothing else for whatever the other side does. The caller sets the deadline.
        """
        raise NotImplementedError
