"""The page of knobs: it lists all of them and where each is set, and is read-only."""

import re
from pathlib import Path

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation

from echovessel.knobs import REGISTRY

pytestmark = pytest.mark.django_db
URL = "/admin/knobs/"
HAN = re.compile("[\u4e00-\u9fff]")


@pytest.fixture
def staff(client: Client, ben: User) -> Client:
    User.objects.filter(pk=ben.pk).update(is_staff=True)
    client.force_login(ben)
    return client


def test_all_knobs_are_shown_with_where_they_are_set(staff: Client, settings: object, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    settings.FILE_KNOBS = {"chat.idle_minutes": 20, "persona.mood_decay_hours": 24}  # type: ignore[attr-defined]
    settings.KNOBS = {**settings.FILE_KNOBS, "chat.idle_minutes": 10}  # type: ignore[attr-defined]
    (tmp_path / "knobs.toml").write_text('"chat.idle_minutes" = 20\n"persona.mood_decay_hours" = 36\n')
    answer = staff.get(URL)
    rows = {row["name"]: row for row in answer.context["rows"]}
    assert rows.keys() == REGISTRY.keys()
    assert answer.context["changed"] == 2
    values = {name: [rows[name][key] for key in ("value", "default", "source", "pending")] for name in settings.KNOBS}  # type: ignore[attr-defined]
    assert values == {
        "chat.idle_minutes": [10, 30, "environment", None],
        "persona.mood_decay_hours": [24, 12, "file", 36],
    }
    assert "A long silence" in answer.content.decode()
    assert [row["name"] for row in staff.get(URL, {"q": "MOOD decay"}).context["rows"]] == ["persona.mood_decay_hours"]
    assert len(staff.get(URL, {"changed": "1"}).context["rows"]) == 2
    assert "No knob fits." in staff.get(URL, {"q": "zzz"}).content.decode()


def test_each_reason_and_unit_is_told_in_chinese_and_found_by_it(staff: Client) -> None:
    rows = staff.get(URL, headers={"accept-language": "zh-hans"}).context["rows"]
    with translation.override("zh-hans"):
        english = [row["name"] for row in rows if not HAN.search(str(row["why"]))]
        units = {str(row["unit"]) for row in rows}
    assert english == []
    assert {unit for unit in units if not HAN.search(unit)} == {"MB"}
    matching_rows = staff.get(URL, {"q": "秒"}, headers={"accept-language": "zh-hans"}).context["rows"]
    assert "chat.debounce_seconds" in [row["name"] for row in matching_rows]


def test_the_columns_of_sign_ins_are_told_in_chinese(client: Client, ben: User) -> None:
    User.objects.filter(pk=ben.pk).update(is_staff=True, is_superuser=True)
    client.force_login(ben)
    AccessAttempt.objects.create(username="ana", ip_address="::1", user_agent="-", failures_since_start=1)
    for model in ("accessattempt", "accesslog", "accessfailurelog"):
        page = client.get(f"/admin/axes/{model}/", headers={"accept-language": "zh-hans"}).content.decode()
        for word in ("IP Address", "User Agent", "Attempt Time", "Failed Logins", "Username"):
            assert word not in page, (model, word)
        assert ("IP 地址" in page) == (model != "accessfailurelog"), "that one is empty here"


def test_a_file_that_cannot_be_read_is_told(staff: Client, settings: object, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    (tmp_path / "knobs.toml").write_text("chat.idle_minutes = = 3")
    assert "the next start would fail" in staff.get(URL).content.decode()


def test_only_staff_see_the_page_and_find_it_in_the_admin(staff: Client, ana: User) -> None:
    assert URL in staff.get("/admin/").content.decode()
    staff.force_login(ana)
    assert staff.get(URL).status_code == 302
