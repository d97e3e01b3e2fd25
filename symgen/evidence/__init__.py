"""Evidence of generated C: what compilers, analysers, coverage and mutation say of the files of a
folder, as a folder of its own with one page.

Knows jobs and languages. Offers `gathered`, the evidence, and `written`, its files."""
