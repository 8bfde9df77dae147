"""What vulture calls unused and is not: a name a line, and why. `make lint` reads it; nothing runs it."""

_.showwarning  # set on the module `warnings`, which calls it
_.inter_op_num_threads  # an option of onnxruntime's session
_.intra_op_num_threads  # an option of onnxruntime's session
_.enable_mem_pattern  # an option of onnxruntime's session
_.log_severity_level  # an option of onnxruntime's session
_.autocommit  # an attribute of psycopg's connection
_.itersize  # an attribute of psycopg's server-side cursor
_._repr_html_  # called by a notebook to show the value
down_revision  # read by Alembic in a migration
picture  # a field that the report's template reads
grammar  # a field that is part of a cache's key, through asdict
_.rethreshold  # called in the notebook on clusters and in the guide
_.least_similar  # called in the notebook on clusters
direct  # a field of an explanation, for whoever prints it
joined_at  # a field of an explanation, for whoever prints it
__getattr__  # called by Python for a public name that is not imported yet
__dir__  # called by Python for dir(hopgate)
known  # a field of a mixture, for benchmarks/fit_shares.py
walks  # a field of a walk's trace, for benchmarks/fit_shares.py
subject  # a column of a statement's row
