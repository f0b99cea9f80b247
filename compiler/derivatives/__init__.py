"""Deterministic automata by Brzozowski derivatives: a second construction beside subsets."""
