"""The only writer of memory. Each use case joins the open write() of its caller and is recorded in it."""
