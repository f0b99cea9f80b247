"""Whether a vocabulary's sections fit together: checked first, for every kind of artifact."""

from ..container.manifest import Manifest
from ..container.requirements import Arrays, check_types, require, require_offsets, require_range
from ..errors import ArtifactError

_VOCABULARY = {
    "vocab.data": ("u1", 1),
    "vocab.kinds": ("u1", 1),
    "vocab.offsets": ("i8", 1),
}


def check_vocabulary(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit."""
    check_types(arrays, _VOCABULARY)
    size = manifest.vocab_size
    require(len(arrays["vocab.kinds"]) == size, "vocab.kinds")
    require_range(arrays, "vocab.kinds", 0, 3)
    require_offsets(arrays, "vocab.offsets", size, len(arrays["vocab.data"]))
    if not manifest.eos or not all(0 <= i < size for i in manifest.eos):
        raise ArtifactError("the manifest is damaged: bad 'eos'")
