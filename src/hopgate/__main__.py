"""`python -m hopgate`."""

from hopgate.cli import main

main()
