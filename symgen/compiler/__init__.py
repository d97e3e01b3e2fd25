"""The compiler's core: straight-line programs of which equal expressions are one node.

Knows numbers alone, and no mechanics but a custom: entries of the input ``q`` are angles, and their
sines and cosines have names (s1, c2_3 in `naming`). Offers the expression graph (`program`), passes
over it (`passes`), its evaluation, derivatives and text, and work on several of them at once
(`parallel`)."""
