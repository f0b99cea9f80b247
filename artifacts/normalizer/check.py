"""Whether the automaton of texts in normal form, where an artifact has one, fits together."""

from ..container.manifest import Manifest
from ..container.requirements import Arrays, check_types, require, require_range

# Sections: dtype and number of axes. All or none; beside them maybe ``stable.prompts``.
NORMAL_FORM = {
    "stable.classes": ("u1", 1),
    "stable.start": ("i4", 1),
    "stable.table": ("u2", 2),
    "stable.tokens": ("i4", 1),
    "stable.unsure": ("i4", 1),
}


def check_normal_form(manifest: Manifest, arrays: Arrays) -> None:
    """Raise ``ArtifactError`` naming the first section that does not fit, if there is any."""
    if not any(name in arrays for name in NORMAL_FORM):
        return
    check_types(arrays, NORMAL_FORM)
    if "stable.prompts" in arrays:
        check_types(arrays, {"stable.prompts": ("u1", 1)})
    states, columns = arrays["stable.table"].shape
    require(states > 1 and columns > 0, "stable.table")
    require_range(arrays, "stable.table", 0, states)
    require(not arrays["stable.table"][0].any(), "stable.table")
    require(len(arrays["stable.classes"]) == 256, "stable.classes")
    require_range(arrays, "stable.classes", 0, columns)
    require(len(arrays["stable.start"]) == 1, "stable.start")
    require_range(arrays, "stable.start", 1, states)
    require_range(arrays, "stable.tokens", 0, manifest.vocab_size)
    require_range(arrays, "stable.unsure", 0, manifest.vocab_size)
