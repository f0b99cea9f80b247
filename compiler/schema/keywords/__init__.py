"""What each keyword asks of a value: a file a group, with the positive and the negative reading of
each keyword side by side."""
