"""Every address of the site."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

import chat.rendering.links
import chat.socket.sse
import chat.views
import echovessel.api.tokens.views
import echovessel.llm.connect_page
import memory.web.views.chat_page
import persona.credentials
import persona.views
from echovessel import api_routes
from echovessel.web import help as manual
from echovessel.web.health import healthz
from echovessel.web.look import change_look

urlpatterns = [
    path("", persona.views.home, name="home"),
    path("login/", persona.views.SignIn.as_view(), name="login"),
    path("logout/", persona.views.SignOut.as_view(), name="logout"),
    path("welcome/persona/", persona.views.onboarding, name="onboarding"),
    path("welcome/<str:token>/", persona.views.first_run, name="first_run"),
    path("leave/", chat.rendering.links.leave, name="leave"),
    path("chat/<uuid:persona>/", chat.views.chat, name="chat"),
    path("chat/<uuid:persona>/greeting/", chat.views.greeting, name="greeting"),
    path("chat/<uuid:persona>/history/", chat.views.history, name="history"),
    path("chat/<uuid:persona>/turns/<uuid:turn>/why/", memory.web.views.chat_page.turn_xray, name="turn_xray"),
    path("account/tokens/<uuid:token>/revoke/", echovessel.api.tokens.views.revoke, name="revoke_token"),
    path("account/model/", echovessel.llm.connect_page.connect, name="connect_model"),
    path("account/look/", change_look, name="change_look"),
    path("account/name/", persona.credentials.change_name, name="change_name"),
    path("account/password/", persona.credentials.change_password, name="change_password"),
    path("account/time-zone/", persona.credentials.change_zone, name="change_zone"),
    path("account/sign-out/", persona.credentials.sign_out_everywhere, name="sign_out_everywhere"),
    path("", include("memory.urls")),
    path("", include("proactive.urls")),
    path("api/personas/<uuid:persona>/events", chat.socket.sse.events, name="events"),
    path("api/", api_routes.urls),
    path("v1//", include("chat.openai_api.urls")),
    path("v1/", include("chat.openai_api.urls")),
    path("help/", manual.index, name="help"),
    path("help/<slug:page>/", manual.show, name="help_page"),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("admin/", admin.site.urls),
    path("healthz", healthz),
]
