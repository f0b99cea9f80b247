"""The command line: one thin file per subcommand over a library call.

``__main__`` is the entry, ``app`` the list of subcommands and how errors end the program,
``options`` what several subcommands take, ``inputs`` how files and standard input are read,
``console`` what goes to which stream.
"""
