"""From normal forms to the rules of a grammar: values, the members of objects, items of arrays."""
