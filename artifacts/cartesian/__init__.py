"""CartesianMerge at run time: a product of automata, made lazily."""
