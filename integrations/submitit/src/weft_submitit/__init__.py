"""submitit's jobs on weft: `AutoExecutor(folder, cluster="weft")`."""
