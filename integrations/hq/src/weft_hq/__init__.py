"""The command `hq` for Nextflow and AiiDA. A pipeline calls it for every task, one after the
other, so it imports neither weft nor what takes long, unless something is unusual.
"""
