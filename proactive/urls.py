"""URLs of reaching out: the owner's page, why a first message came, and the endpoints that browsers need for
notifications."""

from django.urls import path

from proactive import views
from proactive.push import views as push_views

urlpatterns = [
    path("chat/<uuid:persona>/reaching-out/", views.reaching_out, name="reaching_out"),
    path("chat/<uuid:persona>/turns/<uuid:turn>/why-now/", views.why_now, name="why_now"),
    path("push/", push_views.subscriptions, name="push_subscriptions"),
    path("push/gone/", push_views.unsubscribed, name="push_unsubscribe"),
    path("push/key/", push_views.key, name="push_key"),
    path("sw.js", push_views.service_worker, name="service_worker"),
    path("offline/", push_views.offline, name="offline"),
    path("manifest.webmanifest", push_views.manifest, name="manifest"),
]
