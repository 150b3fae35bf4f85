"""The studio: a page on this machine to look at experts, judge items and watch the fusion learn."""
