"""What the build of the distributions runs (pyproject.toml names it); not in the wheel."""
