"""Ray, by its API of jobs: it runs jobs of weft. It must know no other engine."""
