import django.db.models.deletion
import django.db.models.functions.text
import django.db.models.lookups
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    # An installation that has applied all of these goes on from here; one that has applied a part is refused (E009).
    replaces = [
        ('memory', '0001_initial'),
        ('memory', '0002_replies_and_tombstones'),
        ('memory', '0003_node_recallable'),
        ('memory', '0004_embedding_model'),
        ('memory', '0005_node_undated'),
        ('memory', '0006_forgetting'),
        ('memory', '0007_names_for_people'),
        ('memory', '0008_names_of_models'),
        ('memory', '0009_between_talks'),
        ('memory', '0010_imports_of_files'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('chat', '0001_tables'),
        ('persona', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Extraction',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='extractions', to='chat.session', verbose_name='session')),
                ('chunk', models.PositiveSmallIntegerField(default=0, verbose_name='chunk')),
                ('through', models.PositiveBigIntegerField(verbose_name='through')),
                ('answer', models.JSONField(verbose_name='answer')),
                ('dropped', models.PositiveSmallIntegerField(default=0, verbose_name='dropped')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('applied_at', models.DateTimeField(blank=True, null=True, verbose_name='applied at')),
            ],
            options={
                'verbose_name': 'extraction',
                'verbose_name_plural': 'extractions',
                'ordering': ['session', 'chunk'],
                'constraints': [models.UniqueConstraint(fields=('session', 'chunk'), name='extraction_once_per_chunk')],
            },
        ),
        migrations.CreateModel(
            name='ModelReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='model_replies', to='persona.persona', verbose_name='persona')),
                ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='model_replies', to='chat.session', verbose_name='session')),
                ('step', models.CharField(max_length=24, verbose_name='step')),
                ('number', models.PositiveSmallIntegerField(verbose_name='number')),
                ('text', models.TextField(verbose_name='text')),
                ('whole', models.BooleanField(default=True, verbose_name='whole')),
                ('usage', models.JSONField(default=dict, verbose_name='usage')),
                ('at', models.DateTimeField(auto_now_add=True, verbose_name='at')),
            ],
            options={
                'verbose_name_plural': 'model replies',
                'ordering': ['session', 'step', 'number'],
                'constraints': [models.UniqueConstraint(fields=('session', 'step', 'number'), name='model_reply_once'), models.UniqueConstraint(condition=models.Q(('session', None)), fields=('persona', 'step', 'number'), name='model_reply_once_between_talks')],
            },
        ),
        migrations.CreateModel(
            name='ReflectionRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reflection_runs', to='persona.persona', verbose_name='persona')),
                ('session', models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reflection_run', to='chat.session', verbose_name='session')),
                ('reason', models.CharField(choices=[('shock', 'a shock'), ('timer', 'a day has passed'), ('hard_gate', 'too many in 24 hours'), ('not_due', 'not due yet'), ('nothing_new', 'nothing new')], max_length=12, verbose_name='reason')),
                ('thoughts', models.PositiveSmallIntegerField(default=0, verbose_name='thoughts')),
                ('dropped', models.PositiveSmallIntegerField(default=0, verbose_name='dropped')),
                ('at', models.DateTimeField(verbose_name='at')),
            ],
            options={
                'verbose_name': 'reflection',
                'verbose_name_plural': 'reflections',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['persona', '-at'], name='reflection_run_by_time')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason__in', ['shock', 'timer', 'hard_gate', 'not_due', 'nothing_new'])), name='reflection_reason_known')],
            },
        ),
        migrations.CreateModel(
            name='ConceptNode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='persona.persona', verbose_name='persona')),
                ('kind', models.CharField(choices=[('event', 'event'), ('thought', 'thought'), ('intention', 'intention'), ('expectation', 'expectation')], max_length=12, verbose_name='kind')),
                ('subject', models.CharField(choices=[('user', 'the user'), ('persona', 'the persona'), ('shared', 'both')], default='user', max_length=8, verbose_name='subject')),
                ('description', models.TextField(max_length=2000, verbose_name='description')),
                ('emotional_impact', models.SmallIntegerField(default=0, verbose_name='emotional impact')),
                ('emotion_tags', models.JSONField(blank=True, default=list, verbose_name='emotion tags')),
                ('relational_tags', models.JSONField(blank=True, default=list, verbose_name='relational tags')),
                ('event_time_start', models.DateField(blank=True, null=True, verbose_name='event time start')),
                ('event_time_end', models.DateField(blank=True, null=True, verbose_name='event time end')),
                ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='nodes', to='chat.session', verbose_name='session')),
                ('source', models.CharField(choices=[('extraction', 'extraction'), ('reflection', 'reflection'), ('slow_cycle', 'slow cycle'), ('import', 'import'), ('person', 'a person')], max_length=12, verbose_name='source')),
                ('confidence', models.FloatField(default=1.0, verbose_name='confidence')),
                ('status', models.CharField(choices=[('active', 'active'), ('hidden', 'hidden'), ('superseded', 'superseded'), ('archived', 'archived'), ('quarantined', 'quarantined')], default='active', max_length=12, verbose_name='status')),
                ('verification', models.CharField(choices=[('unverified', 'unverified'), ('confirmed', 'confirmed'), ('disputed', 'disputed')], default='unverified', max_length=12, verbose_name='verification')),
                ('superseded_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='supersedes', to='memory.conceptnode', verbose_name='superseded by')),
                ('mention_count', models.PositiveIntegerField(default=1, verbose_name='mention count')),
                ('last_mentioned_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last mentioned at')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created at')),
                ('access_count', models.PositiveIntegerField(default=0, verbose_name='access count')),
                ('last_accessed_at', models.DateTimeField(blank=True, null=True, verbose_name='last accessed at')),
                ('content_hash', models.CharField(editable=False, max_length=64, verbose_name='content hash')),
                ('embedding_model', models.CharField(editable=False, max_length=200, verbose_name='embedding model')),
                ('outcome', models.CharField(choices=[('open', 'open'), ('fulfilled', 'fulfilled'), ('violated', 'violated'), ('expired', 'expired')], default='open', max_length=12, verbose_name='outcome')),
                ('resolved_at', models.DateTimeField(blank=True, null=True, verbose_name='resolved at')),
                ('resolved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='resolves', to='memory.conceptnode', verbose_name='resolved by')),
                ('pinned', models.BooleanField(default=False, verbose_name='pinned')),
                ('archived_because', models.CharField(blank=True, choices=[('expired', 'never confirmed'), ('settled', 'settled long ago'), ('old', 'old and slight'), ('person', 'put away by a person')], max_length=12, verbose_name='archived because')),
                ('import_uuid', models.UUIDField(editable=False, null=True, verbose_name='import')),
            ],
            options={
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['persona', 'kind', '-created_at'], name='node_by_kind'), models.Index(fields=['persona', 'content_hash'], name='node_by_hash'), models.Index(fields=['kind', '-id'], name='node_newest_of_kind'), models.Index(fields=['kind', 'status', '-id'], name='node_newest_of_status'), models.Index(condition=models.Q(('import_uuid', None), _negated=True), fields=['import_uuid'], name='node_by_import'), models.Index(condition=models.Q(('status', 'active')), fields=['persona'], name='node_recallable'), models.Index(fields=['persona', 'event_time_start', 'event_time_end'], name='node_by_event_time'), models.Index(condition=models.Q(('event_time_start', None)), fields=['persona', 'created_at'], name='node_undated')],
                'constraints': [models.UniqueConstraint(fields=('persona', 'external_id'), name='node_external_id_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['event', 'thought', 'intention', 'expectation'])), name='node_kind_known'), models.CheckConstraint(condition=models.Q(('subject__in', ['user', 'persona', 'shared'])), name='node_subject_known'), models.CheckConstraint(condition=models.Q(('status__in', ['active', 'hidden', 'superseded', 'archived', 'quarantined'])), name='node_status_known'), models.CheckConstraint(condition=models.Q(('emotional_impact__gte', -10), ('emotional_impact__lte', 10)), name='node_impact_within_10'), models.CheckConstraint(condition=models.Q(('confidence__gte', 0.0), ('confidence__lte', 1.0)), name='node_confidence_0_to_1'), models.CheckConstraint(condition=models.Q(models.Q(('event_time_end', None), ('event_time_start', None)), ('event_time_start__lte', models.F('event_time_end')), _connector='OR'), name='node_event_time_in_order'), models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('description'), 2000), name='node_not_too_long'), models.CheckConstraint(condition=models.Q(('description', ''), _negated=True), name='node_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='NodeVector',
            fields=[
                ('node', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='vector', serialize=False, to='memory.conceptnode', verbose_name='node')),
                ('model', models.CharField(max_length=200, verbose_name='model')),
                ('embedding', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='NodeText',
            fields=[
                ('node', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text', serialize=False, to='memory.conceptnode', verbose_name='node')),
                ('scope', models.CharField(editable=False, max_length=24)),
                ('body', models.TextField(editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='EmbeddingModel',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='embedding_model_once'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='embedding_model_named')],
            },
        ),
        migrations.CreateModel(
            name='Reembedding',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('holder', models.CharField(blank=True, max_length=200)),
                ('lease_until', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='reembedding_once')],
            },
        ),
        migrations.CreateModel(
            name='StagedVector',
            fields=[
                ('node', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='staged_vector', serialize=False, to='memory.conceptnode')),
                ('model', models.CharField(max_length=200)),
                ('embedding', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='Entity',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='entities', to='persona.persona', verbose_name='persona')),
                ('canonical_name', models.CharField(max_length=120, verbose_name='canonical name')),
                ('kind', models.CharField(choices=[('person', 'person'), ('place', 'place'), ('org', 'organisation'), ('pet', 'pet'), ('other', 'other')], default='other', max_length=8, verbose_name='kind')),
                ('description', models.CharField(blank=True, max_length=400, verbose_name='description')),
                ('described_by', models.CharField(blank=True, choices=[('slow_cycle', 'slow cycle'), ('person', 'a person')], max_length=12, verbose_name='described by')),
                ('described_through', models.PositiveBigIntegerField(default=0, editable=False, verbose_name='described through')),
                ('status', models.CharField(choices=[('confirmed', 'confirmed'), ('uncertain', 'uncertain'), ('merged', 'merged')], default='confirmed', max_length=12, verbose_name='status')),
                ('merged_into', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='absorbed', to='memory.entity', verbose_name='merged into')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('import_uuid', models.UUIDField(editable=False, null=True, verbose_name='import')),
            ],
            options={
                'verbose_name': 'L5 entity',
                'verbose_name_plural': 'L5 entities',
                'ordering': ['canonical_name', 'id'],
                'indexes': [models.Index(fields=['status', '-id'], name='entity_newest_of_status'), models.Index(condition=models.Q(('import_uuid', None), _negated=True), fields=['import_uuid'], name='entity_by_import')],
                'constraints': [models.UniqueConstraint(fields=('persona', 'external_id'), name='entity_external_id_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['person', 'place', 'org', 'pet', 'other'])), name='entity_kind_known'), models.CheckConstraint(condition=models.Q(('status__in', ['confirmed', 'uncertain', 'merged'])), name='entity_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Alias',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('entity', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='memory.entity', verbose_name='entity')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='persona.persona', verbose_name='persona')),
                ('text', models.CharField(max_length=120, verbose_name='text')),
                ('normalized', models.CharField(max_length=120, verbose_name='normalized')),
            ],
            options={
                'verbose_name_plural': 'aliases',
                'ordering': ['id'],
                'indexes': [models.Index(fields=['persona', 'normalized'], name='alias_by_name')],
                'constraints': [models.UniqueConstraint(fields=('entity', 'normalized'), name='alias_once_per_entity'), models.CheckConstraint(condition=models.Q(('normalized', ''), _negated=True), name='alias_not_empty')],
            },
        ),
        migrations.CreateModel(
            name='Mention',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to='memory.conceptnode', verbose_name='node')),
                ('entity', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to='memory.entity', verbose_name='entity')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('node', 'entity'), name='mention_once')],
            },
        ),
        migrations.CreateModel(
            name='MergeProposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('a', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals_as_a', to='memory.entity', verbose_name='this')),
                ('b', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proposals_as_b', to='memory.entity', verbose_name='that')),
                ('score', models.FloatField(verbose_name='score')),
                ('reasons', models.JSONField(default=list, verbose_name='reasons')),
                ('status', models.CharField(choices=[('open', 'open'), ('merged', 'merged'), ('kept_apart', 'kept apart'), ('undone', 'undone')], default='open', max_length=12, verbose_name='status')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='decided by')),
                ('decided_at', models.DateTimeField(blank=True, null=True, verbose_name='decided at')),
                ('snapshot', models.JSONField(blank=True, default=dict, verbose_name='snapshot')),
                ('hinted_at', models.DateTimeField(blank=True, help_text='when a prompt last asked to find out', null=True, verbose_name='hinted at')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
            ],
            options={
                'verbose_name': 'question of two names',
                'verbose_name_plural': 'questions of two names',
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('a', 'b'), name='proposal_once_per_pair'), models.CheckConstraint(condition=models.Q(('a__lt', models.F('b'))), name='proposal_pair_in_order')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
            ],
            options={
                'verbose_name': 'L3 event',
                'verbose_name_plural': 'L3 events',
                'proxy': True,
            },
            bases=('memory.conceptnode',),
        ),
        migrations.CreateModel(
            name='Evidence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence', to='memory.conceptnode', verbose_name='node')),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence_for', to='chat.message', verbose_name='message')),
                ('quote', models.TextField(verbose_name='quote')),
                ('start', models.PositiveIntegerField(verbose_name='start')),
                ('end', models.PositiveIntegerField(verbose_name='end')),
            ],
            options={
                'ordering': ['node', 'message', 'start'],
                'constraints': [models.UniqueConstraint(fields=('node', 'message', 'start', 'end'), name='evidence_once'), models.CheckConstraint(condition=models.Q(('start__lt', models.F('end'))), name='evidence_span_in_order')],
            },
        ),
        migrations.CreateModel(
            name='ImportRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_runs', to='persona.persona', verbose_name='persona')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('counts', models.JSONField(default=dict, verbose_name='counts')),
            ],
            options={
                'verbose_name': 'import',
                'verbose_name_plural': 'imports',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ImportJob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_jobs', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('persona', models.ForeignKey(blank=True, help_text='none until it is known of whom the file tells: a companion may begin with it', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='import_jobs', to='persona.persona', verbose_name='persona')),
                ('status', models.CharField(choices=[('looking', 'being looked through'), ('asking', 'waiting for your answer'), ('writing', 'being stored'), ('remembering', 'being remembered'), ('drafting', 'being drawn together'), ('done', 'done'), ('cancelled', 'cancelled'), ('refused', 'could not be read'), ('failed', 'failed')], default='looking', max_length=12, verbose_name='status')),
                ('file_name', models.CharField(max_length=200, verbose_name='file')),
                ('file_size', models.PositiveBigIntegerField(verbose_name='size')),
                ('file_digest', models.CharField(blank=True, max_length=64, verbose_name='digest of the file')),
                ('file_is_here', models.BooleanField(default=False, verbose_name='the file is kept here')),
                ('format', models.CharField(blank=True, max_length=40, verbose_name='format')),
                ('found', models.JSONField(default=dict, verbose_name='found')),
                ('choices', models.JSONField(default=dict, verbose_name='choices')),
                ('counts', models.JSONField(default=dict, verbose_name='counts')),
                ('gone_through', models.PositiveIntegerField(default=0, verbose_name='chunks gone through')),
                ('refusal', models.JSONField(default=dict, verbose_name='why it was refused')),
                ('failure', models.CharField(blank=True, max_length=200, verbose_name='failure')),
                ('holder', models.CharField(blank=True, editable=False, max_length=120, verbose_name='holder')),
                ('lease_until', models.DateTimeField(blank=True, null=True, verbose_name='lease until')),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='since its last step forward', verbose_name='attempts')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('confirmed_at', models.DateTimeField(blank=True, null=True, verbose_name='confirmed at')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished at')),
            ],
            options={
                'verbose_name': 'import of a file',
                'verbose_name_plural': 'imports of files',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['persona', '-id'], name='import_job_newest'), models.Index(condition=models.Q(('status__in', ['looking', 'writing', 'remembering', 'drafting'])), fields=['lease_until'], name='import_job_waiting')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['looking', 'asking', 'writing', 'remembering', 'drafting', 'done', 'cancelled', 'refused', 'failed'])), name='import_job_status_known')],
            },
        ),
        migrations.CreateModel(
            name='ImportPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='memory.importjob', verbose_name='import of a file')),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('content', models.BinaryField(verbose_name='content')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='import_piece_once')],
            },
        ),
        migrations.CreateModel(
            name='ImportChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='memory.importjob', verbose_name='import of a file')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='persona.persona', verbose_name='persona')),
                ('number', models.PositiveIntegerField(verbose_name='number')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('kind', models.CharField(choices=[('talk', 'talk'), ('prose', 'prose'), ('notes', 'notes')], max_length=8, verbose_name='kind')),
                ('dated', models.BooleanField(default=True, help_text='whether the file says when it was', verbose_name='dated')),
                ('session', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='import_chunk', to='chat.session', verbose_name='session')),
            ],
            options={
                'verbose_name': 'part of an import',
                'verbose_name_plural': 'parts of imports',
                'ordering': ['job', 'number'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'digest'), name='import_chunk_once'), models.UniqueConstraint(fields=('job', 'number'), name='import_chunk_in_order'), models.CheckConstraint(condition=models.Q(('kind__in', ['talk', 'prose', 'notes'])), name='import_chunk_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Receipt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='receipts', to='persona.persona', verbose_name='persona')),
                ('persona_uuid', models.UUIDField(editable=False, null=True, verbose_name='persona uuid')),
                ('owner_id', models.BigIntegerField(editable=False, verbose_name='owner id')),
                ('targets', models.JSONField(default=list, verbose_name='targets')),
                ('choice', models.JSONField(default=dict, verbose_name='choice')),
                ('counts', models.JSONField(default=dict, verbose_name='counts')),
                ('erased', models.JSONField(default=dict, verbose_name='erased')),
                ('prints', models.JSONField(default=list, verbose_name='prints')),
                ('stones', models.JSONField(default=list, verbose_name='stones')),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='by')),
                ('at', models.DateTimeField(verbose_name='at')),
                ('status', models.CharField(choices=[('pending', 'the bytes are being erased'), ('done', 'done')], default='pending', max_length=8, verbose_name='status')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished at')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
            ],
            options={
                'verbose_name': 'receipt',
                'verbose_name_plural': 'receipts',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['owner_id', '-id'], name='receipt_of_owner'), models.Index(condition=models.Q(('status', 'pending')), fields=['status'], name='receipt_pending')],
            },
        ),
        migrations.CreateModel(
            name='SlowCycle',
            fields=[
                ('persona', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='slow_cycle', serialize=False, to='persona.persona', verbose_name='persona')),
                ('through', models.PositiveBigIntegerField(default=0, verbose_name='through')),
                ('wanted_at', models.DateTimeField(blank=True, null=True, verbose_name='wanted at')),
                ('wanted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='chat.session', verbose_name='wanted by')),
                ('holder', models.CharField(blank=True, editable=False, max_length=120, verbose_name='holder')),
                ('lease_until', models.DateTimeField(blank=True, null=True, verbose_name='lease until')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
            ],
            options={
                'verbose_name': 'slow cycle',
                'verbose_name_plural': 'slow cycles',
                'indexes': [models.Index(condition=models.Q(('wanted_at', None), _negated=True), fields=['lease_until'], name='slow_cycle_waiting')],
            },
        ),
        migrations.CreateModel(
            name='SlowCycleRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slow_cycle_runs', to='persona.persona', verbose_name='persona')),
                ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='slow_cycle_runs', to='chat.session', verbose_name='session')),
                ('reason', models.CharField(choices=[('first', 'the first one'), ('rested', 'enough time has passed'), ('shock', 'a shock'), ('correction', 'a correction')], max_length=12, verbose_name='reason')),
                ('outcome', models.CharField(choices=[('done', 'done'), ('failed', 'failed')], max_length=8, verbose_name='outcome')),
                ('failure', models.CharField(blank=True, max_length=200, verbose_name='failure')),
                ('given', models.JSONField(default=dict, verbose_name='given')),
                ('made', models.JSONField(default=list, verbose_name='made')),
                ('through', models.PositiveBigIntegerField(default=0, verbose_name='through')),
                ('tokens_in', models.PositiveIntegerField(default=0, verbose_name='tokens in')),
                ('tokens_out', models.PositiveIntegerField(default=0, verbose_name='tokens out')),
                ('dropped', models.PositiveSmallIntegerField(default=0, verbose_name='dropped')),
                ('at', models.DateTimeField(verbose_name='at')),
            ],
            options={
                'verbose_name': 'slow cycle run',
                'verbose_name_plural': 'slow cycle runs',
                'ordering': ['-at', '-id'],
                'indexes': [models.Index(fields=['persona', '-at'], name='slow_cycle_run_by_time'), models.Index(fields=['-at', '-id'], name='slow_cycle_run_newest')],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason__in', ['first', 'rested', 'shock', 'correction'])), name='slow_cycle_reason_known'), models.CheckConstraint(condition=models.Q(('outcome__in', ['done', 'failed'])), name='slow_cycle_outcome_known')],
            },
        ),
        migrations.CreateModel(
            name='Question',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='persona.persona', verbose_name='persona')),
                ('text', models.CharField(max_length=400, verbose_name='question')),
                ('content_hash', models.CharField(editable=False, max_length=64, verbose_name='content hash')),
                ('status', models.CharField(choices=[('open', 'open'), ('answered', 'answered'), ('dropped', 'dropped')], default='open', max_length=8, verbose_name='status')),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='questions', to='memory.slowcyclerun', verbose_name='run')),
                ('asked_at', models.DateTimeField(verbose_name='asked at')),
                ('settled_at', models.DateTimeField(blank=True, null=True, verbose_name='settled at')),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='answers', to='memory.conceptnode', verbose_name='answered by')),
            ],
            options={
                'verbose_name': 'question',
                'verbose_name_plural': 'questions',
                'ordering': ['-asked_at', '-id'],
                'indexes': [models.Index(fields=['persona', 'status', '-asked_at'], name='question_by_status')],
                'constraints': [models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='question_not_empty'), models.CheckConstraint(condition=models.Q(('status__in', ['open', 'answered', 'dropped'])), name='question_status_known'), models.UniqueConstraint(condition=models.Q(('status', 'open')), fields=('persona', 'content_hash'), name='question_open_once')],
            },
        ),
        migrations.CreateModel(
            name='QuestionGround',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('question', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rests_on', to='memory.question', verbose_name='question')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='memory.conceptnode', verbose_name='memory')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('question', 'node'), name='question_ground_once')],
            },
        ),
        migrations.CreateModel(
            name='Thought',
            fields=[
            ],
            options={
                'verbose_name': 'L4 thought',
                'verbose_name_plural': 'L4 thoughts',
                'proxy': True,
            },
            bases=('memory.conceptnode',),
        ),
        migrations.CreateModel(
            name='Intention',
            fields=[
            ],
            options={
                'verbose_name': 'L4 intention',
                'verbose_name_plural': 'L4 intentions',
                'proxy': True,
            },
            bases=('memory.conceptnode',),
        ),
        migrations.CreateModel(
            name='Expectation',
            fields=[
            ],
            options={
                'verbose_name': 'L4 expectation',
                'verbose_name_plural': 'L4 expectations',
                'proxy': True,
            },
            bases=('memory.conceptnode',),
        ),
        migrations.CreateModel(
            name='Filling',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('parent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='filling', to='memory.conceptnode', verbose_name='parent')),
                ('child', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='fills', to='memory.conceptnode', verbose_name='child')),
                ('orphaned', models.BooleanField(default=False, verbose_name='orphaned')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('parent', 'child'), name='filling_once'), models.CheckConstraint(condition=models.Q(('parent', models.F('child')), _negated=True), name='filling_not_itself'), models.CheckConstraint(condition=models.Q(('child__isnull', False), ('orphaned', True), _connector='OR'), name='filling_has_a_child')],
            },
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tombstones', to='persona.persona', verbose_name='persona')),
                ('kind', models.CharField(choices=[('text', 'a text'), ('line', 'a short line of one day'), ('name', 'a name'), ('external', 'an id in an archive')], default='text', max_length=8, verbose_name='kind')),
                ('digest', models.CharField(max_length=64, verbose_name='digest')),
                ('key_id', models.CharField(default='', max_length=8, verbose_name='key id')),
                ('refused', models.PositiveIntegerField(default=0, verbose_name='refused')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
            ],
            options={
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('persona', 'digest'), name='tombstone_once')],
            },
        ),
        migrations.CreateModel(
            name='NodeVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='memory.conceptnode', verbose_name='node')),
                ('version', models.PositiveIntegerField(verbose_name='version')),
                ('description', models.TextField(max_length=2000, verbose_name='description')),
                ('emotional_impact', models.SmallIntegerField(verbose_name='emotional impact')),
                ('emotion_tags', models.JSONField(default=list, verbose_name='emotion tags')),
                ('relational_tags', models.JSONField(default=list, verbose_name='relational tags')),
                ('event_time_start', models.DateField(null=True, verbose_name='event time start')),
                ('event_time_end', models.DateField(null=True, verbose_name='event time end')),
                ('verification', models.CharField(choices=[('unverified', 'unverified'), ('confirmed', 'confirmed'), ('disputed', 'disputed')], max_length=12, verbose_name='verification')),
                ('edited_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='edited by')),
                ('edited_at', models.DateTimeField(verbose_name='edited at')),
            ],
            options={
                'ordering': ['node', '-version'],
                'constraints': [models.UniqueConstraint(fields=('node', 'version'), name='node_version_once')],
            },
        ),
        migrations.AddField(
            model_name='entity',
            name='nodes',
            field=models.ManyToManyField(related_name='entities', through='memory.Mention', to='memory.conceptnode'),
        ),
        migrations.AddField(
            model_name='question',
            name='grounds',
            field=models.ManyToManyField(related_name='questions', through='memory.QuestionGround', to='memory.conceptnode'),
        ),
    ]
