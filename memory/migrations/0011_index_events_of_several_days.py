from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0010_threads"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="conceptnode",
            index=models.Index(
                condition=models.Q(("event_time_end__gt", models.F("event_time_start"))),
                fields=["persona", "event_time_end"],
                name="node_of_several_days",
            ),
        ),
    ]
