"""Facts with their dates become intervals: which fact holds when, and which rows that adds and retires."""
