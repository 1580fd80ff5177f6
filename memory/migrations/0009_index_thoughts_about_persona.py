from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0008_read_again"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="conceptnode",
            index=models.Index(
                condition=models.Q(("kind", "thought"), ("subject", "persona")),
                fields=["persona", "-created_at", "-id"],
                name="node_about_persona",
            ),
        ),
    ]
