"""Replies are kept from the moment they are paid for; extractions know how far they have read; tombstones."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Max, OuterRef, Subquery


def keep_unreadable_answers(apps, schema_editor):
    """What nobody could read is a reply like any other now. Of talks that were tried again since it is not kept: the
    next try would take it for the answer."""
    using = schema_editor.connection.alias
    reply = apps.get_model("memory", "ModelReply")
    unreadable = apps.get_model("memory", "UnreadableAnswer").objects.using(using)
    kept = unreadable.filter(session__status="failed")
    reply.objects.using(using).bulk_create(
        reply(session_id=one.session_id, step=one.step, number=0, text=one.raw) for one in kept
    )


def tell_how_far_was_read(apps, schema_editor):
    """Answers that were used have read their whole session; of others nothing was made, and they are asked for anew."""
    extractions = apps.get_model("memory", "Extraction").objects.using(schema_editor.connection.alias)
    message = apps.get_model("chat", "Message")
    extractions.filter(applied_at=None).delete()
    last = message.objects.filter(session=OuterRef("session")).values("session").annotate(last=Max("pk")).values("last")
    extractions.filter(session__messages__isnull=False).update(through=Subquery(last))


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0002_waiting_and_reading"),
        ("memory", "0001_initial"),
        ("persona", "0002_mood_of_each_reading"),
    ]

    operations = [
        migrations.AddField("extraction", "through", models.PositiveBigIntegerField(default=0), preserve_default=False),
        migrations.RunPython(tell_how_far_was_read, migrations.RunPython.noop, elidable=True),
        migrations.CreateModel(
            name="ModelReply",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("step", models.CharField(max_length=24)),
                ("number", models.PositiveSmallIntegerField()),
                ("text", models.TextField()),
                ("whole", models.BooleanField(default=True)),
                ("usage", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="model_replies", to="chat.session"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "model replies",
                "ordering": ["session", "step", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("session", "step", "number"), name="model_reply_once")
                ],
            },
        ),
        migrations.RunPython(keep_unreadable_answers, migrations.RunPython.noop, elidable=True),
        migrations.DeleteModel("UnreadableAnswer"),
        migrations.AddField(
            "mergeproposal",
            "hinted_at",
            models.DateTimeField(blank=True, help_text="when a prompt last asked to find out", null=True),
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("refused", models.PositiveIntegerField(default=0)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "persona",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="tombstones", to="persona.persona"
                    ),
                ),
            ],
            options={
                "ordering": ["-id"],
                "constraints": [models.UniqueConstraint(fields=("persona", "digest"), name="tombstone_once")],
            },
        ),
    ]
