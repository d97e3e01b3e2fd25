"""Native code: the system's C compiler, and what it makes called from Python.

Knows numbers and compiler. Offers the compiler (`compiler`), one wrapper of shared libraries under
all users (`library`), extension modules of CPython (`extension`), kept on disk (`store`, `kept`)
and as one object (`compiled`), and a tape run by a small compiled loop (`tape`)."""
