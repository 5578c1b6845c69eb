"""The command line: ask by files, or have the machine examined."""
