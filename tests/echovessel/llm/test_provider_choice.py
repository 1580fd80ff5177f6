"""Who answers, with which model, and at what price."""

from decimal import Decimal
from typing import Any

from echovessel import llm
from echovessel.llm.connection import automatic
from echovessel.llm.ledger import cost
from echovessel.llm.openai_provider import OpenAIProvider
from echovessel.llm.providers import OPENAI, Provider, chosen_provider
from echovessel.llm.structured_answers import strict_schema
from tests.table import each_row

NOTHING = {"base_url": "", "key": "", "anthropic_key": "", "openai_key": ""}


@each_row(
    ("given", "provider"),
    [
        ({}, "offline"),
        ({"anthropic_key": "sk-ant-1"}, "anthropic"),
        ({"openai_key": "sk-1"}, "openai"),
        ({"anthropic_key": "sk-ant-1", "openai_key": "sk-1"}, "anthropic"),
        ({"key": "sk-ant-1"}, "anthropic"),
        ({"key": "sk-1"}, "openai"),
        ({"base_url": "http://localhost:11434/v1"}, "openai"),
        ({"base_url": "http://localhost:11434/v1", "anthropic_key": "sk-ant-1"}, "openai"),
        ({"base_url": "https://api.anthropic.com"}, "anthropic"),
    ],
)
def test_auto_chooses_the_configured_provider(given: dict[str, str], provider: str) -> None:
    assert automatic(**(NOTHING | given)) == provider


class Mine(Provider):
    """A provider from outside, as a test or an operator may name one."""

    name = "mine"


def test_a_dotted_path_names_a_provider_of_ones_own(settings: Any) -> None:
    settings.LLM_PROVIDER = f"{__name__}.Mine"
    assert llm.provider_name() == settings.LLM_PROVIDER
    assert chosen_provider().name == "mine"


def test_a_tier_without_a_name_takes_the_model_that_is_named(settings: Any) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:11434/v1"
    settings.LLM_MODEL_LARGE = settings.LLM_MODEL_MEDIUM = settings.LLM_MODEL_SMALL = ""
    assert OpenAIProvider().model("small") == OPENAI.small
    settings.LLM_MODEL_LARGE = "llama3.3"
    assert OpenAIProvider().model("small") == "llama3.3"
    settings.LLM_MODEL_SMALL = "qwen3"
    assert OpenAIProvider().model("small") == "qwen3"


def test_cost_counts_cached_tokens_apart() -> None:
    used = llm.Usage(tokens_in=1_000_000, tokens_cached=500_000, tokens_out=100_000)
    assert cost(used, {"in": 3, "cached": 0.3, "out": 15}) == Decimal("3.15")
    assert cost(used, {"in": 3, "out": 15}) == Decimal("4.5")
    assert cost(used, None) is None


def test_a_strict_schema_demands_every_property_and_nothing_else() -> None:
    schema = {
        "type": "object",
        "title": "T",
        "properties": {
            "title": {"type": "string", "default": "x", "title": "Title"},
            "part": {"$ref": "#/$defs/P"},
        },
        "$defs": {"P": {"type": "object", "properties": {"default": {"type": "integer"}}}},
    }
    assert strict_schema(schema) == {
        "type": "object",
        "properties": {"title": {"type": "string"}, "part": {"$ref": "#/$defs/P"}},
        "required": ["title", "part"],
        "additionalProperties": False,
        "$defs": {
            "P": {
                "type": "object",
                "properties": {"default": {"type": "integer"}},
                "required": ["default"],
                "additionalProperties": False,
            }
        },
    }
