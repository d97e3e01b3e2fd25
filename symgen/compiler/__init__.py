"""The compiler's core: straight-line programs, and loops made of them.

Knows numbers alone, and no mechanics but a custom: entries of the input ``q`` are angles, and their
sines and cosines have names (s1, c2_3 in `naming`). Offers the tape on which equal expressions are
one from birth (`program`), passes over it (`passes`), its evaluation, derivatives and text, and
work on several of them at once (`parallel`).

Rolled code: values that the same operations compute stand side by side in a pack (`packs`), a lane
each, walked from results inward as long as the operations agree; where they differ, lanes read rows
of values (`rows`), and a lane that lacks a term has a zero for it. What may go together is tried
and taken where it saves most (`lanes`); packs that read one another lane by lane are a loop, in an
order in which all that is read is there (`rolling`), whose body is a tape of its own (`bodies`).
The result (`rolled`) is a value beside the tape: the same operations, so that a language may print
loops or the tape, with the same bits but for the signs of zeros."""
