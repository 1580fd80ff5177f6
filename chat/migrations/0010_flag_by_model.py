from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0009_flag_by_detector")]

    operations = [
        migrations.AddField(
            "crisisflag",
            "by_model",
            models.BooleanField(default=False, editable=False, verbose_name="raised by the connected model"),
        ),
    ]
