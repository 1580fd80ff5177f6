"""Addresses under /v1/."""

from django.urls import path, re_path

from chat.openai_api import views

urlpatterns = [
    path("models", views.models, name="openai_models"),
    path("models/<path:name>", views.model, name="openai_model"),
    path("chat/completions", views.completions, name="openai_completions"),
    re_path("", views.nowhere, name="openai_nowhere"),
]
