"""Between the socket and the routes: the HTTP protocol with its limits, the middleware, and running a server."""
