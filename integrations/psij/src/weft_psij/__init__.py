"""PSI/J's jobs on weft: `JobExecutor.get_instance("weft")`."""
