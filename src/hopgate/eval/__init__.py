"""The gate: data in, measures, statistics, slices, audit, verdict and report."""
