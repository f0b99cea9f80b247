"""From the tables of all steps to the sections and the manifest of an artifact.

    encode     tables -> sections, by the name and the type that ``artifacts/README.md`` gives them
    assemble   sections, what was precomputed, names and counts -> Artifact

One file for each engine; values come from the room that makes them. Rows of masks are computed
here, because whether a file holds them depends on how many bytes its other tables take:

    byte_rows           byte DFA and token trie -> the rows of all states, by what tokens do to them
    row_table           rows, each once: packed, or a list of ids where that is shorter
    mask_rows           byte DFA and token trie, or token DFA -> the rows, if the file may hold them
    unspelled_members   members that no tokens spell, where the vocabulary lacks bytes
    size                how many bytes a file takes, before it is written

``constrain.artifacts.dfa`` looks the rows up, and computes them lazily where a file has none.
"""
