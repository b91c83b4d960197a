"""What jobs of a siege write themselves; what must hold of it. It knows no database."""
