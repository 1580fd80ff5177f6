import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0001_tables'),
        ('memory', '0001_tables'),
    ]

    operations = [
        migrations.RemoveIndex('slowcycle', 'slow_cycle_waiting'),  # its condition names a field that is renamed
        migrations.RenameField('slowcycle', 'wanted_at', 'requested_at'),
        migrations.RenameField('slowcycle', 'wanted_by', 'requested_by'),
        migrations.AlterField(
            model_name='slowcycle',
            name='requested_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='requested at'),
        ),
        migrations.AlterField(
            model_name='slowcycle',
            name='requested_by',
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name='+',
                to='chat.session',
                verbose_name='requested by',
            ),
        ),
        migrations.AddIndex(
            model_name='slowcycle',
            index=models.Index(
                condition=models.Q(('requested_at', None), _negated=True),
                fields=['lease_until'],
                name='slow_cycle_waiting',
            ),
        ),
    ]
