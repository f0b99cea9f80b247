"""CartesianMerge (Tran-Thien, Algorithm 5): all that is computed before decoding."""
