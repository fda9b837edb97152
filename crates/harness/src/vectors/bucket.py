"""A bucket of moto with a key of its own: prints its address as one line of JSON, then answers each line of standard input:
`list` with every object, `lose` after removing them all. Serves until standard input ends."""

import json
import os
import sys

# Calls that set the bucket, the user, the key and its policy up; those behind them are checked.
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "4"
os.environ["AWS_DEFAULT_REGION"] = "us-east-1"

import boto3
from moto.server import ThreadedMotoServer

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
print(json.dumps({"url": url, "id": key["AccessKeyId"], "secret": key["SecretAccessKey"]}), flush=True)

keys = {"endpoint_url": url, "aws_access_key_id": key["AccessKeyId"], "aws_secret_access_key": key["SecretAccessKey"]}
bucket = boto3.client("s3", **keys)


def objects():
    pages = bucket.get_paginator("list_objects_v2").paginate(Bucket="archive")
    return [{"key": one["Key"], "bytes": one["Size"]} for page in pages for one in page.get("Contents", [])]


for line in sys.stdin:
    if line.strip() == "lose":
        for one in objects():
            bucket.delete_object(Bucket="archive", Key=one["key"])
    print(json.dumps(objects()), flush=True)
