"""Results as tables: for the terminal, notebooks, Markdown, LaTeX, HTML, CSV and JSON."""

from juryrank.report.escapes import csv_text, escape_controls
from juryrank.report.markup import markdown_table
from juryrank.report.page import html_page, html_table, notebook_html
from juryrank.report.report import FORMATS, Report, nan_to_none
from juryrank.report.table import Table, counted, number, p_value

__all__ = [
    "FORMATS",
    "Report",
    "Table",
    "counted",
    "csv_text",
    "escape_controls",
    "html_page",
    "html_table",
    "markdown_table",
    "nan_to_none",
    "notebook_html",
    "number",
    "p_value",
]
