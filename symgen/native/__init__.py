"""Native code: the system's C compiler, and what it makes called from Python.

Knows numbers and compiler. Offers the compiler (`compiler`), shared libraries, extension modules of
CPython and a tape run by a compiled loop (`library`), and extension modules kept on disk and as one
object (`store`)."""
