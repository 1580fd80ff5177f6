from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_replies_and_tombstones")]

    operations = [
        migrations.AddIndex(
            model_name="conceptnode",
            index=models.Index(
                condition=models.Q(("status", "active")), fields=["persona"], name="node_recallable"
            ),
        ),
    ]
