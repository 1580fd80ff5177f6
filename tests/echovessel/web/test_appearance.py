"""The look of pages: chosen with a form without JavaScript, stored in cookies of the browser."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from persona.models import Persona
from tests.table import each_row

pytestmark = pytest.mark.django_db
URL = "/account/look/"


def test_the_chosen_look_holds_on_every_page_and_after_signing_out(client: Client, mira: Persona) -> None:
    client.force_login(mira.owner)
    params = {"language": "zh-hans", "theme": "dark", "text_size": "larger"}
    page = client.post(URL, params, follow=True).content.decode()
    assert "已保存" in page
    client.post("/logout/")
    sign_in = client.get("/login/").content.decode()
    assert 'lang="zh-hans" data-theme="dark" data-text-size="larger">' in sign_in
    assert '<meta name="color-scheme" content="dark">' in sign_in
    assert sign_in.count('name="theme-color"') == 1
    User.objects.filter(pk=mira.owner_id).update(is_staff=True)
    client.force_login(mira.owner)
    desk = client.get("/admin/").content.decode()
    assert '<meta name="color-scheme" content="dark">' in desk
    assert "theme.js" not in desk
    assert "退出登录" in desk
    assert "注销" not in desk
    assert f"欢迎，{mira.owner.username}" in desk
    client.post(URL, {"language": "en", "theme": "", "text_size": ""})
    assert '<meta name="color-scheme" content="light dark">' in client.get("/admin/").content.decode()
    assert 'lang="en">' in client.get("/account/").content.decode()


@each_row(
    ("field", "value"),
    [("language", "xx"), ("language", ""), ("theme", "pink"), ("text_size", '"><script>')],
)
def test_a_look_that_does_not_exist_is_refused(client: Client, mira: Persona, field: str, value: str) -> None:
    client.force_login(mira.owner)
    answer = client.post(URL, {"language": "en", "theme": "", "text_size": ""} | {field: value})
    assert answer.status_code == 422
    client.cookies["theme" if field == "language" else field] = value
    assert "data-theme" not in client.get(URL).content.decode()
    assert "<script>" not in client.get(URL).content.decode()
