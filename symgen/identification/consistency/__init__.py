"""Physically consistent bodies: linear matrix inequalities, nearest bodies, payloads."""
