"""`python -m sharc` is the command `sharc`."""

from sharc.cli import main

main()
