"""The robot as an object in Python: everything that can be asked of it.

Knows all rooms but the command line. Offers `robot.Robot`, what it shows of itself, its
linearization and its simulation."""
