"""One file per thing that has routes: paths, methods and parameters, nothing else. What is done
stands in the use cases.
"""
