"""Code of others, as they published it (``VENDORED.md``); ``refetch`` compares it with theirs."""
