"""What goes over the wire, as OpenAPI describes it. Strict: nothing is taken for something it is not."""
