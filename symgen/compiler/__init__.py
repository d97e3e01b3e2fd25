"""The compiler's core: straight-line programs.

Knows numbers alone, and no mechanics. Offers the tape on which equal expressions are one from birth
(`program`), passes over it (`passes`), its evaluation, derivatives and text, and work on several of
them at once (`parallel`)."""
