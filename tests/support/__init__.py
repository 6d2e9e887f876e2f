"""What the tests stand on: a private database cluster, a browser, a running console."""
