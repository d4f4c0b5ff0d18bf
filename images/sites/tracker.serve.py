"""Serves Trac on 127.0.0.1: `tracker.serve.py DATA PORT USER`. Whoever comes is signed in as USER."""

import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from trac.web.main import dispatch_request

DATA, PORT, USER = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Server(ThreadingMixIn, WSGIServer):
    """A thread for each request."""

    daemon_threads = True
    request_queue_size = 64

    def server_bind(self):
        """As WSGIServer's, without asking a name server what this machine is called."""
        super(WSGIServer, self).server_bind()
        self.server_name, self.server_port = "tracker.test", 80
        self.setup_environ()


class Handler(WSGIRequestHandler):
    """Keeps the log to what is wrong."""

    def log_request(self, *args):
        """Nothing."""

    def address_string(self):
        """The address, not looked up."""
        return self.client_address[0]


def application(environ, start_response):
    """Trac's, with the user already known."""
    environ |= {"trac.env_path": DATA, "trac.base_url": "http://tracker.test", "REMOTE_USER": USER, "SCRIPT_NAME": ""}
    return dispatch_request(environ, start_response)


make_server("127.0.0.1", PORT, application, Server, Handler).serve_forever()
