"""Files that may be anyone's, read within bounds.

bounded    the bytes of a tokenizer's file, and the value of its JSON
"""
