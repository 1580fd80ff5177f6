"""Static files under hashed names, the modules that scripts import included: an upgrade never meets an old half."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedStorage(CompressedManifestStaticFilesStorage):
    """WhiteNoise's storage; `import … from "./x.js"` is rewritten too."""

    support_js_module_import_aggregation = True
