"""One run from request to report: the search loop, the record, the result, the certificate."""
