"""What every command takes: how much is said and in which colours.

global_options   the options, before a command's name or after it
bar              a progress bar on a terminal, fed by the steps of the library
panels           the help in groups
stages           --verbose: time and memory of each step
"""
