"""Which embedding model is in use is a fact of the database; vectors of another one are made beside those in use."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Count


def adopt_the_model_of_most_vectors(apps, schema_editor):
    """Its name stands with every vector. Vectors of another one, where EMBEDDING_MODEL was changed without a reembed,
    are found by `manage.py reembed`."""
    using = schema_editor.connection.alias
    vectors = apps.get_model("memory", "NodeVector").objects.using(using).exclude(model="")
    most = vectors.values("model").annotate(times=Count("pk")).order_by("-times", "model").first()
    if most is not None:
        apps.get_model("memory", "EmbeddingModel").objects.using(using).create(name=most["model"])


class Migration(migrations.Migration):
    dependencies = [("memory", "0003_node_recallable")]

    operations = [
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=200)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(id=1), name="embedding_model_once"),
                    models.CheckConstraint(condition=~models.Q(name=""), name="embedding_model_named"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reembedding",
            fields=[
                ("id", models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ("holder", models.CharField(blank=True, max_length=200)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(id=1), name="reembedding_once")],
            },
        ),
        migrations.CreateModel(
            name="StagedVector",
            fields=[
                (
                    "node",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="staged_vector",
                        serialize=False,
                        to="memory.conceptnode",
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("embedding", models.BinaryField()),
            ],
        ),
        migrations.RunPython(adopt_the_model_of_most_vectors, migrations.RunPython.noop, elidable=True),
    ]
