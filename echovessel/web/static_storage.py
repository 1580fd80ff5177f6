"""Static files under hashed names, including the modules that scripts import, so that an upgrade never mixes old and
new."""

from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage; also rewrites `import … from "./x.js"`, and no address of a source map, since
    `StaticFilesConfig` collects none."""

    support_js_module_import_aggregation = True
    patterns = tuple(
        (names, tuple(pattern for pattern in patterns if "sourceMappingURL" not in str(pattern)))
        for names, patterns in CompressedManifestStaticFilesStorage.patterns
    )


def is_fresh(root: Path | None = None) -> bool:
    """Whether the files collected in `root`, or else STATIC_ROOT, are newer than every source, so that a second start
    need not collect again (2 s)."""
    manifest = (root or Path(settings.STATIC_ROOT)) / HashedStorage.manifest_name
    if not manifest.exists():
        return False
    collected_at = manifest.stat().st_mtime
    files = (Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([]))
    return all(file.stat().st_mtime < collected_at and file.stat().st_ctime < collected_at for file in files)
