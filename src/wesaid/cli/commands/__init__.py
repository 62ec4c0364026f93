"""One module for each command, each with its ``execute``; imported when the command runs (`wesaid.cli.syntax` declares them)."""
