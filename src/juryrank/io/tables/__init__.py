"""Code shared by all formats with columns: headers, the layout of a table, files of rows as frames."""
