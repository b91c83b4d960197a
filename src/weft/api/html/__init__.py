"""HTML from templates: the only place that makes it. What it is made of comes from the pages."""
