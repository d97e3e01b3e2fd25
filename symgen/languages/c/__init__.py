"""C99: small, without heap or globals, clean under strict warnings."""
