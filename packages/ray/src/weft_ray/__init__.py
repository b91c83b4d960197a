"""Ray, by its API of jobs: it runs jobs of weft; it must know no other engine."""
