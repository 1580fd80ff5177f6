from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("llm", "0003_names_for_people")]

    operations = [
        migrations.RemoveConstraint(model_name="llmcall", name="llm_call_outcome"),
        migrations.AlterField(
            model_name="llmcall",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("ok", "answered"),
                    ("stopped", "stopped"),
                    ("provider_unavailable", "provider unavailable"),
                    ("rate_limited", "rate limited"),
                    ("timeout", "timed out"),
                    ("content_refused", "declined"),
                    ("budget_exhausted", "budget exhausted"),
                    ("only_reasoning", "thought, and gave no answer"),
                    ("internal", "internal error"),
                ],
                max_length=30,
                verbose_name="outcome",
            ),
        ),
        migrations.AddConstraint(
            model_name="llmcall",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    outcome__in=[
                        "ok",
                        "stopped",
                        "provider_unavailable",
                        "rate_limited",
                        "timeout",
                        "content_refused",
                        "budget_exhausted",
                        "only_reasoning",
                        "internal",
                    ]
                ),
                name="llm_call_outcome",
            ),
        ),
    ]
