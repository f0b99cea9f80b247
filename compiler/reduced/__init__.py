"""Recognisers of what a tokenizer can spell, or of fewer states.

recogniser, tokenizer -> recognisers    the members whose bytes are all tokens; minimal networks
"""
