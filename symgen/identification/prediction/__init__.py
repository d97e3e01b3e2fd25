"""Predictors of joint forces, and their errors on a log."""
