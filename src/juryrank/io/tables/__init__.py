"""What all formats with columns share: headers, the layout of a table, files of rows as frames."""
