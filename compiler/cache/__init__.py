"""Tables that are cached on disk between runs of the program, of use to whoever wrote them alone.

entries      ``Cache``: arrays by what they depend on, written, read, evicted
key          ``CacheKey``: by which a user's own entries are told from all others
"""

from .entries import Cache, CacheChoice, Tables, cache_of

__all__ = ["Cache", "CacheChoice", "Tables", "cache_of"]
