"""The report page: a template, a style, a script, and what fills them."""
