import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import persona.models.persona
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    # An installation that has applied all of these goes on from here; one that has applied a part is refused (E009).
    replaces = [
        ('persona', '0001_initial'),
        ('persona', '0002_mood_of_each_reading'),
        ('persona', '0003_words_behind_permissions'),
        ('persona', '0004_names_for_people'),
        ('persona', '0005_names_of_models'),
        ('persona', '0006_between_talks'),
        ('persona', '0007_drafts_of_core_blocks'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Persona',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='personas', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('user_name', models.CharField(blank=True, max_length=80, verbose_name='what they call you')),
                ('timezone', models.CharField(default='UTC', max_length=64, validators=[persona.models.persona.validate_timezone], verbose_name='your time zone')),
                ('language', models.CharField(choices=[('en', 'English'), ('zh', 'Chinese')], default='en', max_length=8, verbose_name='language')),
                ('facts', models.JSONField(blank=True, default=dict, verbose_name='facts')),
                ('episodic_state', models.JSONField(blank=True, default=dict, editable=False, verbose_name='mood')),
                ('care_until', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='holds back until')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
            ],
            options={
                'verbose_name': 'persona',
                'verbose_name_plural': 'personas',
                'ordering': ['id'],
                'permissions': [('read_words', 'May read what other people said and what is remembered of it'), ('forget_words', "May have other people's words and memories forgotten")],
                'constraints': [models.UniqueConstraint(fields=('owner', 'external_id'), name='persona_external_id_once_per_owner'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='persona_has_a_name')],
            },
        ),
        migrations.CreateModel(
            name='CoreBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='core_blocks', to='persona.persona', verbose_name='persona')),
                ('label', models.CharField(choices=[('persona', 'Who the persona is'), ('user', 'Who the user is'), ('style', 'How to speak')], max_length=16, verbose_name='label')),
                ('content', models.TextField(blank=True, max_length=5000, verbose_name='content')),
                ('version', models.PositiveIntegerField(default=1, verbose_name='version')),
                ('edited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='edited by')),
                ('edited_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='edited at')),
            ],
            options={
                'verbose_name': 'L1 core block',
                'verbose_name_plural': 'L1 core blocks',
                'ordering': ['persona', 'label'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'label'), name='core_block_once_per_label'), models.CheckConstraint(condition=models.Q(('label__in', ['persona', 'user', 'style'])), name='core_block_label_known'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('content'), 5000), name='core_block_not_too_long')],
            },
        ),
        migrations.CreateModel(
            name='CoreBlockVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('block', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='persona.coreblock', verbose_name='block')),
                ('version', models.PositiveIntegerField(verbose_name='version')),
                ('content', models.TextField(blank=True, verbose_name='content')),
                ('edited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='edited by')),
                ('edited_at', models.DateTimeField(verbose_name='edited at')),
            ],
            options={
                'ordering': ['-version'],
                'constraints': [models.UniqueConstraint(fields=('block', 'version'), name='core_block_version_once')],
            },
        ),
        migrations.CreateModel(
            name='CoreDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='core_drafts', to='persona.persona', verbose_name='persona')),
                ('label', models.CharField(choices=[('persona', 'Who the persona is'), ('user', 'Who the user is'), ('style', 'How to speak')], max_length=16, verbose_name='label')),
                ('text', models.TextField(max_length=5000, verbose_name='text')),
                ('content_hash', models.CharField(editable=False, max_length=64, verbose_name='content hash')),
                ('status', models.CharField(choices=[('open', 'open'), ('accepted', 'accepted'), ('rejected', 'rejected')], default='open', max_length=8, verbose_name='status')),
                ('import_uuid', models.UUIDField(editable=False, null=True, verbose_name='import')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('decided_at', models.DateTimeField(blank=True, null=True, verbose_name='decided at')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='decided by')),
            ],
            options={
                'verbose_name': 'draft of a core block',
                'verbose_name_plural': 'drafts of core blocks',
                'ordering': ['persona', 'label', 'id'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'label', 'content_hash'), name='core_draft_once'), models.CheckConstraint(condition=models.Q(('label__in', ['persona', 'user', 'style'])), name='core_draft_label_known'), models.CheckConstraint(condition=models.Q(('status__in', ['open', 'accepted', 'rejected'])), name='core_draft_status_known'), models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='core_draft_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='DraftQuote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('draft', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='quotes', to='persona.coredraft', verbose_name='draft')),
                ('quote', models.TextField(verbose_name='quote')),
                ('said_in', models.UUIDField(blank=True, null=True, verbose_name='said in')),
                ('said_at', models.DateTimeField(blank=True, null=True, verbose_name='said at')),
                ('where', models.CharField(blank=True, max_length=200, verbose_name='where')),
            ],
            options={
                'ordering': ['id'],
                'indexes': [models.Index(condition=models.Q(('said_in', None), _negated=True), fields=['said_in'], name='draft_quote_of_line')],
            },
        ),
        migrations.CreateModel(
            name='MoodChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mood_changes', to='persona.persona', verbose_name='persona')),
                ('mood', models.CharField(max_length=40, verbose_name='mood')),
                ('energy', models.SmallIntegerField(verbose_name='energy')),
                ('last_user_signal', models.CharField(blank=True, max_length=80, null=True, verbose_name='last user signal')),
                ('session_uuid', models.UUIDField(editable=False, null=True, verbose_name='session uuid')),
                ('at', models.DateTimeField(verbose_name='at')),
            ],
            options={
                'verbose_name': 'L6 change of mood',
                'verbose_name_plural': 'L6 changes of mood',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['persona', '-at'], name='mood_change_by_time'), models.Index(fields=['session_uuid'], name='mood_change_of_session')],
                'constraints': [models.CheckConstraint(condition=models.Q(('energy__gte', 0), ('energy__lte', 10)), name='mood_energy_0_to_10')],
            },
        ),
    ]
