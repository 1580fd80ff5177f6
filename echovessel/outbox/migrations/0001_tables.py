from django.db import migrations, models


class Migration(migrations.Migration):

    # An installation that has applied all of these goes on from here; one that has applied a part is refused (E009).
    replaces = [
        ('outbox', '0001_initial'),
        ('outbox', '0002_names_for_people'),
    ]

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='OutboxEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stream', models.UUIDField(editable=False, verbose_name='stream')),
                ('name', models.CharField(max_length=60, verbose_name='name')),
                ('data', models.JSONField(verbose_name='data')),
                ('at', models.DateTimeField(verbose_name='at')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(fields=['stream', 'id'], name='outbox_by_stream'), models.Index(fields=['at'], name='outbox_by_age')],
            },
        ),
    ]
