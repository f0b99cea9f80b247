"""Earley's recogniser with Leo items, and masks by it, for any context-free grammar."""
