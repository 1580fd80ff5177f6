"""The ASGI entry point: pages and API by Django, sockets by Channels."""

import os
from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echovessel.settings")
django = get_asgi_application()

from channels.auth import AuthMiddlewareStack  # noqa: E402  (models exist only now)
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

from chat.socket.routing import websocket_urlpatterns  # noqa: E402
from chat.turns import runner  # noqa: E402
from echovessel.embeddings import embedding  # noqa: E402
from echovessel.web.admission import SameOrigin  # noqa: E402
from echovessel.web.backpressure import with_flow_control  # noqa: E402
from echovessel.web.request_bodies import install, spooled_body  # noqa: E402
from memory.imports import uploads  # noqa: E402

AROUND_A_FILE = 2**20  # bytes of a form besides the file in it
install(lambda: uploads.most_bytes() + AROUND_A_FILE)
# In the background, before the first page is requested, so that the first message need not wait for the model.
embedding.warm("你好" if settings.LANGUAGE_CODE.startswith("zh") else "Hello")


async def pages(scope: Any, receive: Any, send: Any) -> None:
    """Django's pages. The first request after a start also starts the watch for turns that a dead server left."""
    runner.get_runner().watch()
    await django(scope, receive, with_flow_control(send))


application = spooled_body(
    ProtocolTypeRouter({"http": pages, "websocket": SameOrigin(AuthMiddlewareStack(URLRouter(websocket_urlpatterns)))})
)
