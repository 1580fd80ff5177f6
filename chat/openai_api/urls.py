"""URLs under /v1/, included once more as /v1//: clients join base and path with one slash or two, and some add one at
the end."""

from django.urls import path, re_path

from chat.openai_api import views

urlpatterns = [
    path("models", views.models, name="openai_models"),
    path("models/", views.models),
    path("models/<path:name>", views.model, name="openai_model"),
    path("chat/completions", views.completions, name="openai_completions"),
    path("chat/completions/", views.completions),
    re_path("", views.not_found, name="openai_nowhere"),
]
