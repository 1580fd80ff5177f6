"""Socket addresses."""

from django.urls import path

from chat.consumers import ChatConsumer

websocket_urlpatterns = [path("ws/chat/<uuid:persona>/", ChatConsumer.as_asgi())]
