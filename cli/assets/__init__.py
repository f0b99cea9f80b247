"""Code of others, as they published it (``VENDORED.md``)."""
