"""Socket addresses."""

from django.urls import path

from chat.socket.consumer import ChatConsumer

websocket_urlpatterns = [path("ws/chat/<uuid:persona>/", ChatConsumer.as_asgi())]
