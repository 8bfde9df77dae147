"""The three legs: lexical, dense, graph. Each ranks memories for one query."""
