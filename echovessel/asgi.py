"""The ASGI entry point: pages and API by Django, sockets by Channels."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echovessel.settings")
pages = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (models exist only now)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from chat.routing import websocket_urlpatterns  # noqa: E402
from echovessel.origins import SameOrigin  # noqa: E402

application = ProtocolTypeRouter(
    {"http": pages, "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))}
)
