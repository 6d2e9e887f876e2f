"""The only reader of memory outside its gateway. Scope is always an argument, and always given by the caller."""
