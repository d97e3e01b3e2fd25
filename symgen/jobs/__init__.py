"""Jobs: from a robot's file and options to files in a folder.

Knows all rooms up to languages. Offers `job.Job`, job files, the manifest, the files of a module,
their publication all at once or not at all, and the proof of a folder."""
