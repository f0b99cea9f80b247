"""Stores of many artifacts."""
