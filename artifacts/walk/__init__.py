"""The walk of the token trie: masks and steps of a machine whose states are made when met.

layout.py            the trie with siblings side by side; rows and exits that all grammars share
rows.py              the rows of states, each made when it is first needed
threads.py           threads over sets of stacks, and what a byte makes of them
kernel.py            the walk; with the two above it runs as it stands, and compiled
characters.py        which characters outside ASCII lead from one state to another
forms.py             which of the two forms runs
rows_by_frames.py    the rows that were found, by the frames that the walk looked at
summaries.py         what tokens make of one call, whatever it is on top of
summary_tables.py    the same in a file, and the rows of stacks by it
summary_rows.py      mask rows as numbers: those of a file, and those that are found; unions
node_sets.py         sets of trie nodes at which a token is suspended, as numbers
results.py           what is known by a key: those of a file under those that are found

A *procedure summary* says what may follow inside a call, whatever lies below it. The last three
files hold the summaries of all engines; an engine says what its keys are and how a summary is
walked. What is found is forgotten when it takes more bytes than it may; what a file has stays.
"""
