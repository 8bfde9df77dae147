"""The configurations that a gate compares: collected lists, the grid, the choice on development queries."""
