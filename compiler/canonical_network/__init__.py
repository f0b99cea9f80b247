"""Canonical masks of a network, worked out ahead of time for all stacks that can come about."""
