from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0007_speaker_of_a_line")]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="is_cut",
            field=models.BooleanField(default=False, help_text="the reply ended at a limit", verbose_name="cut"),
        ),
    ]
