import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    # An installation that has applied all of these goes on from here; one that has applied a part is refused (E009).
    replaces = [
        ('chat', '0001_initial'),
        ('chat', '0002_waiting_and_reading'),
        ('chat', '0003_imports_and_crisis_flags'),
        ('chat', '0004_names_for_people'),
        ('chat', '0005_names_of_models'),
        ('chat', '0006_between_talks'),
        ('chat', '0007_speaker_of_a_line'),
        ('chat', '0008_cut_replies'),
        ('chat', '0009_flag_by_detector'),
        ('chat', '0010_imported_speakers'),
        ('chat', '0011_flag_by_model'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('persona', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='persona.persona', verbose_name='persona')),
                ('channel', models.CharField(default='web', max_length=40, verbose_name='channel')),
                ('status', models.CharField(choices=[('open', 'open'), ('closing', 'closing'), ('consolidating', 'consolidating'), ('closed', 'closed'), ('failed', 'failed')], default='open', max_length=16, verbose_name='status')),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='started at')),
                ('last_message_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='last message at')),
                ('closed_at', models.DateTimeField(blank=True, null=True, verbose_name='closed at')),
                ('close_reason', models.CharField(blank=True, choices=[('idle', 'idle'), ('explicit', 'by the user'), ('length', 'length'), ('shutdown', 'shutdown'), ('import', 'import')], max_length=16, verbose_name='close reason')),
                ('message_count', models.PositiveIntegerField(default=0, verbose_name='message count')),
                ('token_count', models.PositiveIntegerField(default=0, verbose_name='token count')),
                ('trivial', models.BooleanField(default=False, verbose_name='trivial')),
                ('summary', models.CharField(blank=True, max_length=400, verbose_name='summary')),
                ('failure', models.CharField(blank=True, max_length=400, verbose_name='failure')),
                ('attempts', models.PositiveSmallIntegerField(default=0, help_text='since its last step forward', verbose_name='attempts')),
                ('holder', models.CharField(blank=True, editable=False, max_length=120, verbose_name='holder')),
                ('lease_until', models.DateTimeField(blank=True, null=True, verbose_name='lease until')),
                ('waiting_for', models.CharField(blank=True, choices=[('provider', 'the model to answer again'), ('budget', "tomorrow's budget")], max_length=12, verbose_name='waiting for')),
                ('reading_asked_at', models.DateTimeField(blank=True, null=True, verbose_name='reading asked at')),
                ('off_the_record', models.BooleanField(default=False, verbose_name='off the record')),
                ('import_uuid', models.UUIDField(editable=False, null=True, verbose_name='import')),
            ],
            options={
                'verbose_name': 'talk',
                'verbose_name_plural': 'talks',
                'ordering': ['-started_at', '-id'],
                'indexes': [models.Index(fields=['persona', '-started_at'], name='session_by_time'), models.Index(fields=['status', 'last_message_at'], name='session_waiting'), models.Index(fields=['status', '-id'], name='session_newest_of_status'), models.Index(condition=models.Q(('import_uuid', None), _negated=True), fields=['import_uuid'], name='session_by_import')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'open')), fields=('persona', 'channel'), name='session_one_open_per_channel'), models.UniqueConstraint(fields=('persona', 'external_id'), name='session_external_id_once'), models.CheckConstraint(condition=models.Q(('status__in', ['open', 'closing', 'consolidating', 'closed', 'failed'])), name='session_status_known'), models.CheckConstraint(condition=models.Q(('waiting_for__in', ['', 'provider', 'budget'])), name='session_waiting_for_known')],
            },
        ),
        migrations.CreateModel(
            name='Turn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='chat.session', verbose_name='session')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='turns', to='persona.persona', verbose_name='persona')),
                ('status', models.CharField(choices=[('collecting', 'collecting'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('stopped', 'stopped')], default='collecting', max_length=16, verbose_name='status')),
                ('spoke_first', models.BooleanField(default=False, help_text='nobody had said anything: a turn without lines of the user', verbose_name='she spoke first')),
                ('is_cut', models.BooleanField(default=False, help_text='the reply ended at a limit', verbose_name='cut')),
                ('error', models.CharField(blank=True, max_length=40, verbose_name='error')),
                ('partial', models.TextField(blank=True, verbose_name='partial')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created at')),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started at')),
                ('first_token_at', models.DateTimeField(blank=True, null=True, verbose_name='first token at')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished at')),
                ('holder', models.CharField(blank=True, max_length=120, verbose_name='holder')),
                ('lease_until', models.DateTimeField(blank=True, null=True, verbose_name='lease until')),
                ('usage', models.JSONField(blank=True, default=dict, verbose_name='usage')),
                ('xray', models.JSONField(blank=True, default=dict, verbose_name='xray')),
            ],
            options={
                'verbose_name': 'turn',
                'verbose_name_plural': 'turns',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['status', 'lease_until'], name='turn_by_lease')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'running')), fields=('persona',), name='turn_one_running_per_persona'), models.CheckConstraint(condition=models.Q(('status__in', ['collecting', 'running', 'done', 'failed', 'stopped'])), name='turn_status_known')],
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('uuid', models.UUIDField(default=uuid.uuid4, editable=False, unique=True, verbose_name='id')),
                ('external_id', models.CharField(blank=True, editable=False, max_length=200, null=True, verbose_name='id in an archive')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='chat.session', verbose_name='session')),
                ('persona', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='persona.persona', verbose_name='persona')),
                ('turn', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='messages', to='chat.turn', verbose_name='turn')),
                ('role', models.CharField(choices=[('user', 'user'), ('persona', 'persona'), ('system', 'system')], max_length=8, verbose_name='role')),
                ('content', models.TextField(verbose_name='content')),
                ('speaker', models.CharField(blank=True, help_text='who said it, where that is neither of the two', max_length=80, verbose_name='speaker')),
                ('client_id', models.UUIDField(blank=True, editable=False, null=True, verbose_name='id of the page')),
                ('token_count', models.PositiveIntegerField(verbose_name='token count')),
                ('day', models.DateField(help_text="in the owner's time zone", verbose_name='day')),
                ('created_at', models.DateTimeField(verbose_name='created at')),
                ('withheld', models.BooleanField(default=False, verbose_name='withheld')),
                ('import_uuid', models.UUIDField(editable=False, null=True, verbose_name='import')),
            ],
            options={
                'verbose_name': 'L2 line',
                'verbose_name_plural': 'L2 lines',
                'ordering': ['created_at', 'id'],
                'indexes': [models.Index(fields=['persona', 'created_at', 'id'], name='message_by_time'), models.Index(fields=['session', 'created_at', 'id'], name='message_in_session'), models.Index(condition=models.Q(('import_uuid__isnull', False)), fields=['import_uuid', 'role'], name='message_by_import'), models.Index(condition=models.Q(('speaker__gt', '')), fields=['session', 'speaker', 'withheld'], name='message_speakers')],
                'constraints': [models.UniqueConstraint(fields=('persona', 'client_id'), name='message_client_id_once'), models.UniqueConstraint(fields=('persona', 'external_id'), name='message_external_id_once'), models.UniqueConstraint(condition=models.Q(('role', 'persona')), fields=('turn',), name='message_one_reply_per_turn'), models.CheckConstraint(condition=models.Q(('role__in', ['user', 'persona', 'system'])), name='message_role_known')],
            },
        ),
        migrations.CreateModel(
            name='MessageText',
            fields=[
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='text', serialize=False, to='chat.message', verbose_name='message')),
                ('scope', models.CharField(editable=False, max_length=24)),
                ('body', models.TextField(editable=False)),
            ],
        ),
        migrations.CreateModel(
            name='CrisisFlag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='crisis_flag', to='chat.message')),
                ('raised_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='raised by')),
                ('by_detector', models.BooleanField(default=False, editable=False, verbose_name='raised by the detector')),
                ('by_model', models.BooleanField(default=False, editable=False, verbose_name='raised by the connected model')),
                ('raised_at', models.DateTimeField(verbose_name='raised at')),
                ('seen_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='seen by')),
                ('seen_at', models.DateTimeField(blank=True, null=True, verbose_name='seen at')),
            ],
            options={
                'verbose_name': 'crisis flag',
                'verbose_name_plural': 'crisis flags',
                'ordering': ['-raised_at', '-id'],
                'indexes': [models.Index(fields=['-raised_at', '-id'], name='crisis_flag_newest')],
            },
        ),
    ]
