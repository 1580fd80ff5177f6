"""The job worker: beside it somebody waits for an answer."""

import os

import pytest
from django.core.management import call_command
from django_q import cluster
from django_q.management.commands.qcluster import Command as ClusterCommand

from echovessel.management.commands import worker
from echovessel.process import lifeline


def test_it_gives_way_to_the_web_server_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[object] = []
    monkeypatch.setattr(cluster, "Sentinel", cluster.Sentinel)
    monkeypatch.setattr(os, "nice", happened.append)
    monkeypatch.setattr(lifeline, "tie_forks", lambda: happened.append("ties forks"))
    monkeypatch.setattr(ClusterCommand, "handle", lambda *args, **options: happened.append("begins"))
    call_command("worker")
    assert happened == [worker.NICENESS, "ties forks", "begins"]
    assert cluster.Sentinel is worker.Guard
