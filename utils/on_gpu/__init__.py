"""The checks of utils/check-on-gpu."""
