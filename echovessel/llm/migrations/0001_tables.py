import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    # An installation that has applied all of these goes on from here; one that has applied a part is refused (E009).
    replaces = [
        ('llm', '0001_initial'),
        ('llm', '0002_newest_calls'),
        ('llm', '0003_names_for_people'),
        ('llm', '0004_only_reasoning'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='LLMCall',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='llm_calls', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('persona_uuid', models.UUIDField(blank=True, null=True, verbose_name='persona uuid')),
                ('session_uuid', models.UUIDField(blank=True, null=True, verbose_name='session uuid')),
                ('turn_uuid', models.UUIDField(blank=True, null=True, verbose_name='turn uuid')),
                ('purpose', models.CharField(choices=[('chat', 'chat'), ('extraction', 'extraction'), ('reflection', 'reflection'), ('slow_cycle', 'slow cycle'), ('entity', 'entity'), ('proactive', 'proactive'), ('import', 'import'), ('onboarding', 'onboarding')], max_length=20, verbose_name='purpose')),
                ('provider', models.CharField(max_length=100, verbose_name='provider')),
                ('model', models.CharField(max_length=200, verbose_name='model')),
                ('tokens_in', models.PositiveIntegerField(default=0, verbose_name='tokens in')),
                ('tokens_cached', models.PositiveIntegerField(default=0, verbose_name='tokens cached')),
                ('tokens_out', models.PositiveIntegerField(default=0, verbose_name='tokens out')),
                ('estimated', models.BooleanField(default=False, help_text='The provider did not count; we guessed.', verbose_name='estimated')),
                ('cost', models.DecimalField(blank=True, decimal_places=8, max_digits=14, null=True, verbose_name='cost')),
                ('latency_ms', models.PositiveIntegerField(default=0, verbose_name='latency ms')),
                ('outcome', models.CharField(choices=[('ok', 'answered'), ('stopped', 'stopped'), ('provider_unavailable', 'provider unavailable'), ('rate_limited', 'rate limited'), ('timeout', 'timed out'), ('content_refused', 'declined'), ('budget_exhausted', 'budget exhausted'), ('only_reasoning', 'thought, and gave no answer'), ('internal', 'internal error')], max_length=30, verbose_name='outcome')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='at')),
            ],
            options={
                'verbose_name': 'model call',
                'verbose_name_plural': 'model calls',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['owner', 'purpose', 'at'], name='llm_call_budget'), models.Index(fields=['-at', '-id'], name='llm_call_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('purpose__in', ['chat', 'extraction', 'reflection', 'slow_cycle', 'entity', 'proactive', 'import', 'onboarding'])), name='llm_call_purpose'), models.CheckConstraint(condition=models.Q(('outcome__in', ['ok', 'stopped', 'provider_unavailable', 'rate_limited', 'timeout', 'content_refused', 'budget_exhausted', 'only_reasoning', 'internal'])), name='llm_call_outcome'), models.CheckConstraint(condition=models.Q(('tokens_cached__lte', models.F('tokens_in'))), name='llm_call_cached_is_part_of_in'), models.CheckConstraint(condition=models.Q(('cost__isnull', True), ('cost__gte', 0), _connector='OR'), name='llm_call_cost')],
            },
        ),
    ]
