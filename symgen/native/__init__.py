"""Native code: the system's C compiler, and what it makes called from Python.

Knows numbers and compiler. Offers the compiler (`compiler`), shared libraries and extension modules
of CPython (`library`), the latter kept on disk and as one object (`store`, `cached_modules`), and a
tape run by a small compiled loop (`tape`)."""
