from django.db import migrations, models


def mark_detected(apps, schema_editor):
    """So far nothing but the phrases raised a flag without a person; a person's flag may have lost its account since."""
    from chat.care.rules import speaks_by_rule

    flags = apps.get_model("chat", "CrisisFlag").objects.filter(raised_by=None).select_related("message")
    for flag in flags.iterator(chunk_size=500):
        if speaks_by_rule(flag.message.content):
            flag.by_detector = True
            flag.save(update_fields=["by_detector"])


class Migration(migrations.Migration):
    dependencies = [("chat", "0008_cut_replies")]

    operations = [
        migrations.AddField(
            "crisisflag",
            "by_detector",
            models.BooleanField(default=False, editable=False, verbose_name="raised by the detector"),
        ),
        migrations.RunPython(mark_detected, migrations.RunPython.noop, elidable=True),
    ]
