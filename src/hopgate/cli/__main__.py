"""`python -m hopgate.cli`."""

from hopgate.cli import main

main()
