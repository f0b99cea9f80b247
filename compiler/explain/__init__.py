"""Why a text is or is not a member of a grammar."""
