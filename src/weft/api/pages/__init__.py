"""The pages of weft, below `/ui`: HTML over the use cases of the api. They show nothing that the
API cannot say. Each file has its `ROUTES`.
"""
