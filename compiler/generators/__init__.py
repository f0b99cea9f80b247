"""Programs that write the data files beside the code; run by hand, not in the wheel."""
