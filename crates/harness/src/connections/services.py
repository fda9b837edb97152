"""Services that connections lead to, each with good and bad credentials: prints their addresses as one line of JSON, then
serves until standard input ends."""

import base64
import datetime
import json
import os
import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

# Calls that set the bucket, the user, the key and its policy up; those behind them are checked.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
os.environ["AWS_DEFAULT_REGION"] = "us-east-1"

import boto3
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from moto.server import ThreadedMotoServer

SECRET = os.environ["CONNECTIONS_SECRET"]
BASIC = "Basic " + base64.b64encode(f"caller:{SECRET}".encode()).decode()
CLIENT = "Basic " + base64.b64encode(f"client:{SECRET}".encode()).decode()

authority = trustme.CA()
PEM = authority.cert_pem.bytes().decode()


def context(certificate):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(made)
    return made


YESTERDAY = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)
GOOD = context(authority.issue_cert("127.0.0.1", "localhost"))
ELSEWHERE = context(authority.issue_cert("elsewhere.example"))
EXPIRED = context(authority.issue_cert("127.0.0.1", not_after=YESTERDAY))


class Http(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"canary-of-an-answer", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        given = self.headers.get("authorization", "")
        by = {
            "/none": True,
            "/basic": given == BASIC,
            "/bearer": given == f"Bearer {SECRET}",
            "/header": self.headers.get("x-key") == SECRET,
            "/oauth": given == "Bearer made-by-the-token-endpoint",
        }
        if self.path == "/redirect":
            self.answer(302, headers=[("location", "http://169.254.169.254/latest/meta-data/")])
        elif self.path == "/slow":
            time.sleep(60)
        else:
            self.answer(200 if by.get(self.path) else 401)

    def do_POST(self):
        sent = self.rfile.read(int(self.headers.get("content-length", 0)))
        form = parse_qs(sent.decode(errors="replace"))
        posted = form.get("client_id") == ["client"] and form.get("client_secret") == [SECRET]
        if self.path == "/token" and form.get("grant_type") == ["client_credentials"]:
            if self.headers.get("authorization") == CLIENT or posted:
                token = {"access_token": "made-by-the-token-endpoint", "token_type": "Bearer", "expires_in": 60}
                self.answer(200, json.dumps(token).encode(), [("content-type", "application/json")])
            else:
                self.answer(401, b'{"error": "invalid_client"}', [("content-type", "application/json")])
        elif self.path == "/hook":
            signed = all(self.headers.get(name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature"))
            self.answer(204 if signed else 400, b"")
        elif self.path == "/gone":
            self.answer(410, b"")
        else:
            self.answer(404)


def http(tls=None):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Http)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def listening(serve):
    """A port on which each connection is served by a function, in a thread of its own."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def stalled():
    """A service that takes connections and says nothing."""

    def serve(connection):
        with connection:
            while connection.recv(4096):
                pass

    return listening(serve)


def database(tls):
    """A database that agrees on TLS and shows its certificate; whoever takes it gets no further."""

    def serve(connection):
        with connection:
            connection.recv(8)
            connection.sendall(b"S")
            try:
                with tls.wrap_socket(connection, server_side=True) as secured:
                    secured.recv(4096)
            except OSError:
                pass

    return listening(serve)


class Sink:
    async def handle_DATA(self, server, session, envelope):
        return "250 taken"


def mail(tls):
    def authenticate(server, session, envelope, mechanism, given):
        good = given.login == b"mailer" and given.password == SECRET.encode()
        return AuthResult(success=good, handled=False if not good else True)

    controller = Controller(
        Sink(), hostname="127.0.0.1", port=free(), tls_context=tls, require_starttls=True,
        authenticator=authenticate, auth_required=True)
    controller.start()
    return controller.port


def free():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def bucket():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    url = f"http://127.0.0.1:{port}"
    keys = {"endpoint_url": url, "aws_access_key_id": "setup", "aws_secret_access_key": "setup"}
    boto3.client("s3", **keys).create_bucket(Bucket="archive")
    iam = boto3.client("iam", **keys)
    iam.create_user(UserName="archivist")
    key = iam.create_access_key(UserName="archivist")["AccessKey"]
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}
    iam.put_user_policy(UserName="archivist", PolicyName="all", PolicyDocument=json.dumps(policy))
    return {"url": url, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}


print(json.dumps({
    "authority": PEM,
    "http": http(),
    "https": http(GOOD),
    "elsewhere": http(ELSEWHERE),
    "expired": http(EXPIRED),
    "mail": mail(GOOD),
    "mailElsewhere": mail(ELSEWHERE),
    "mailExpired": mail(EXPIRED),
    "stalled": stalled(),
    "database": database(GOOD),
    "databaseElsewhere": database(ELSEWHERE),
    "databaseExpired": database(EXPIRED),
    "bucket": bucket(),
}), flush=True)
sys.stdin.read()
