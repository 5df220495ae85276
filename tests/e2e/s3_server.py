# SPDX-License-Identifier: Apache-2.0
"""A store that speaks S3's protocol, on 127.0.0.1, for the tests: moto, with a log.

Started by the tests with the Python that has moto. Prints its port, then serves until its input
ends. Two answers of moto are not S3's, and are mended: an upload that is not there any more is
answered with NoSuchUpload, not with an error of the server.

Each request is a line of the log: what it is, as S3 calls it, and its path.
"""

from __future__ import annotations

import sys
import threading
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs

from moto.s3.exceptions import NoSuchUpload
from moto.s3.models import S3Backend
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


def mend() -> None:
    complete, upload_part = S3Backend.complete_multipart_upload, S3Backend.upload_part

    def require(backend: Any, bucket: str, upload: str) -> None:
        if upload not in backend.get_bucket(bucket).multiparts:
            raise NoSuchUpload(upload_id=upload)

    def mended_complete(self: Any, bucket_name: str, multipart_id: str, *args: Any, **more: Any):
        require(self, bucket_name, multipart_id)
        return complete(self, bucket_name, multipart_id, *args, **more)

    def mended_part(self: Any, bucket_name: str, multipart_id: str, *args: Any, **more: Any):
        require(self, bucket_name, multipart_id)
        return upload_part(self, bucket_name, multipart_id, *args, **more)

    S3Backend.complete_multipart_upload = mended_complete
    S3Backend.upload_part = mended_part


def operation(environ: dict[str, Any]) -> str:
    """What S3 calls a request."""
    query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
    method = environ["REQUEST_METHOD"]
    key = environ["PATH_INFO"].strip("/").partition("/")[2]
    if method == "PUT" and "HTTP_X_AMZ_COPY_SOURCE" in environ:
        return "copy"
    if "uploads" in query:
        return "initiate" if method == "POST" else "list-uploads"
    if "uploadId" in query:
        return {"PUT": "part", "POST": "complete", "DELETE": "abort"}.get(method, "list-parts")
    if method == "POST" and "delete" in query:
        return "delete-many"
    if method == "GET" and not key:
        return "list"
    return method.lower()


class Logged:
    """The application, with a log that is read, and emptied, at ``/_log``.

    ``/_hold/<operation>/<n>`` holds the n-th such request from then on until ``/_release``, and
    ``/_held`` says whether it came. It is done then, whether its client is still there or not.

    ``/_fail/<operation>/<n>/<how>/<times>`` has such requests fail, from the n-th on, so many
    times: ``refused`` and ``denied`` ones are not done, of ``lost`` ones only the answer is an
    error. ``/_failed`` ends that, and tells how often it happened.
    """

    FAILURES = MappingProxyType(
        {
            "refused": ("503 Slow Down", "SlowDown"),
            "denied": ("403 Forbidden", "AccessDenied"),
            "lost": ("500 Internal Server Error", "InternalError"),
        }
    )

    def __init__(self, application: Any) -> None:
        self._application = application
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._hold = ("", 0)
        self._held = False
        self._released = threading.Event()
        self._fail = ("", 0, "", 0)
        self._failed = 0

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"]
        if path.startswith("/_"):
            start_response("200 OK", [("Content-Type", "text/plain")])
            return [self._steer(path.split("/")[1:]).encode()]
        what = operation(environ)
        with self._lock:
            self._lines.append(f"{what} {path}")
            name, left = self._hold
            if what == name:
                self._hold = (name, left - 1)
            is_held = what == name and left == 1
            self._held |= is_held
            how = self._failure(what)
        if is_held:
            self._released.wait()
        if how == "lost":
            for _ in self._application(environ, lambda *_: None):
                pass
        if how:
            status, code = self.FAILURES[how]
            start_response(status, [("Content-Type", "application/xml")])
            return [f"<Error><Code>{code}</Code><Message>on purpose</Message></Error>".encode()]
        return self._application(environ, start_response)

    def _failure(self, what: str) -> str:
        name, left, how, times = self._fail
        if what != name:
            return ""
        fails = left <= 1 and times > 0
        self._fail = (name, left - 1, how, times - fails)
        self._failed += fails
        return how if fails else ""

    def _steer(self, words: list[str]) -> str:
        with self._lock:
            if words[0] == "_log":
                lines, self._lines = self._lines, []
                return "\n".join(lines)
            if words[0] == "_hold":
                self._hold, self._held = (words[1], int(words[2])), False
                self._released.clear()
            if words[0] == "_fail":
                self._fail = (words[1], int(words[2]), words[3], int(words[4]))
                self._failed = 0
            if words[0] == "_failed":
                self._fail = ("", 0, "", 0)
                return str(self._failed)
            if words[0] == "_release":
                self._hold = ("", 0)
                self._released.set()
            return "held" if self._held else ""


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *args: Any, **more: Any) -> None:
        pass


def main() -> None:
    mend()
    application = Logged(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
