from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0001_tables'),
    ]

    operations = [
        migrations.RenameField('session', 'reading_asked_at', 'early_consolidation_requested_at'),
        migrations.AlterField(
            model_name='session',
            name='early_consolidation_requested_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='early consolidation requested at'),
        ),
    ]
