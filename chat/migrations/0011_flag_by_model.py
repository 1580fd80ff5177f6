from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0010_imported_speakers")]

    operations = [
        migrations.AddField(
            "crisisflag",
            "by_model",
            models.BooleanField(default=False, editable=False, verbose_name="raised by the connected model"),
        ),
    ]
