"""Objects in S3: URLs are signed where the credentials are, and used where the files are."""
