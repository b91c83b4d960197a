"""What jobs have left, as files of fsspec: `weft://b1.j7/out.parquet`."""
