"""The command line: one thin file per subcommand over a library call.

__main__ -> app (the list of subcommands; how errors end the program) -> commands/NAME
options    the options that subcommands share, as one object
inputs     names -> text of a grammar, artifact, tokenizer
compiling  text and options -> recogniser -> artifact; drawings and sampling stand on it
console    which output goes to which stream; quoting and report write for people and programs
"""
