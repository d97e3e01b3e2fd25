"""The robot as an object in Python.

Knows all packages but the command line. Offers `robot.Robot`, its views, its linearization, its
controllers and its simulation."""
