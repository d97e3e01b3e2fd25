"""Motions that excite all parameters within the limits of the joints."""
