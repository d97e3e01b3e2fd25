"""Jobs: from a robot's file and options to files in a folder.

Knows all packages up to languages. Offers `job.Job`, job files, the manifest, generation from
a job, publication of files all at once or not at all, the proof of a folder, and the functions of
``import symgen``."""
