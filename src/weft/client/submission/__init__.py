"""Jobs on their way to the server: in one request, or planned and sent in bunches."""
