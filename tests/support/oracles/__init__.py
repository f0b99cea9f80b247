"""Definitions and textbook algorithms, slow and plain, that tests hold the fast ones against."""
