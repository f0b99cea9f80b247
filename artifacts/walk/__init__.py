"""The walk of the token trie that finds masks and steps of a machine whose states are made when met.

layout.py            the trie with siblings side by side; rows and exits that all grammars share
kernel.py            the walk, which runs as it stands, and compiled
forms.py             which of the two forms runs
rows_by_frames.py    the rows that were found, by the frames that the walk looked at
"""
