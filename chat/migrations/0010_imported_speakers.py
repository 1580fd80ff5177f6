from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0009_flag_by_detector")]

    # The condition was written as NOT (… IS NULL), of which the planner did not know that "import_uuid = ?" implies it:
    # the index was never used.
    operations = [
        migrations.RemoveIndex(model_name="message", name="message_by_import"),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["import_uuid", "role"],
                condition=models.Q(import_uuid__isnull=False),
                name="message_by_import",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["session", "speaker", "withheld"],
                condition=models.Q(speaker__gt=""),
                name="message_speakers",
            ),
        ),
    ]
