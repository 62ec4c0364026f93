"""One module for each command, each with its ``cli``; imported when the command is used (see `wesaid.cli.program`)."""
