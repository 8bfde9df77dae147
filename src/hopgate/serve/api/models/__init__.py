"""What requests and answers hold, as types: by the names of the Python API."""
