"""The API: routes, the documents they take and return, problems, and the OpenAPI description."""
