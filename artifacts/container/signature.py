"""Whether a file is an artifact or a grammar, by its first bytes alone (and without numpy)."""

SUFFIX = ".cst"

# So many bytes are enough.
HEAD_BYTES = 16


def looks_like_artifact(head: bytes) -> bool:
    """Whether a file's first bytes are a header length and a JSON object.

    The length of any real header has zero bytes, which no grammar's text has.
    """
    return len(head) > 8 and head[8:9] == b"{" and b"\0" in head[:8]
