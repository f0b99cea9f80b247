"""From the tables of all steps to the sections and the manifest of an artifact.

    encode     tables -> sections, by the name and the type that ``artifacts/README.md`` gives them
    assemble   sections, what was precomputed, names and counts -> Artifact

One file for each engine. Types alone are converted here; values come from the room that makes them.
What depends on the size of a file is told how
many bytes the encoded tables take, and computes in its own room.
"""
