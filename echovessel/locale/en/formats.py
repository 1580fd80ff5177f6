"""Dates in English: 22 November 2026, 21:47. Django's own ("Nov. 22, 2026, 9:47 p.m.") are those of one country."""

DATE_FORMAT = "j F Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = "j F Y, H:i"
MONTH_DAY_FORMAT = "j F"
