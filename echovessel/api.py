"""The HTTP API: one router per app, OpenAPI at /api/docs. Nobody's ids but one's own are found (404)."""

from django.urls import URLPattern
from ninja import NinjaAPI
from ninja.security import django_auth

import chat.api
import memory.api
import persona.api
from echovessel import problems

api = NinjaAPI(
    title="EchoVessel",
    version="1",
    description="A companion that remembers: personas, what was said, what remains, and recall with its x-ray.",
    auth=django_auth,
)
problems.install(api)
api.add_router("/personas", persona.api.router, tags=["persona"])
api.add_router("/personas", chat.api.router, tags=["chat"])
api.add_router("/personas", memory.api.router, tags=["memory"])

urls = api.urls
for pattern in urls[0]:
    # Programs get a 401 from the API's own authentication, not a redirect to the login page; the docs do not.
    if isinstance(pattern, URLPattern) and pattern.name not in ("openapi-json", "openapi-view", "api-root"):
        vars(pattern.callback)["login_required"] = False
