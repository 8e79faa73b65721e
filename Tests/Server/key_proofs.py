"""The log of keys as docs/keys.md and RFC 9162 describe it: leaves, proofs, heads, and keys that can be published."""

import base64
import datetime
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

ALGORITHMS = {"p256": 1, "rsa-oaep-256": 2}


def new_key():
    """A public key as `PUT /v1/keys/{person}` takes it."""
    public = ec.generate_private_key(ec.SECP256R1()).public_key()
    return base64.b64encode(public.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)).decode()


def milliseconds(time):
    """RFC 3339 in UTC with milliseconds, as a number since 1970."""
    moment = datetime.datetime.strptime(time, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(milliseconds=1)


def leaf(person, salt, entry):
    """The bytes of an entry's leaf."""
    def salted(text):
        return hashlib.sha256(base64.b64decode(salt) + text.encode()).digest()

    key = base64.b64decode(entry.get("key", ""))
    return (bytes([1, 1 if key else 2]) + milliseconds(entry["time"]).to_bytes(8, "big") + salted(person) + salted(entry["device"])
            + bytes([ALGORITHMS[entry["algorithm"]] if key else 0]) + len(key).to_bytes(2, "big") + key)


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def node(left, right):
    return hashlib.sha256(b"\1" + left + right).digest()


def follows(hash, index, size, path):
    """The root that a leaf's path leads to (RFC 9162 §2.1.3.2); None: it leads nowhere."""
    if index >= size:
        return None
    place, last = index, size - 1
    for other in path:
        if last == 0:
            return None
        if place & 1 or place == last:
            hash = node(other, hash)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            hash = node(hash, other)
        place, last = place >> 1, last >> 1
    return hash if last == 0 else None


def grew(first, first_root, second, second_root, path):
    """Whether a tree is another one with more leaves (RFC 9162 §2.1.4.2)."""
    if first > second:
        return False
    if first == 0 or first == second:
        return not path and (first == 0 or first_root == second_root)
    if not path:
        return False
    # A whole tree is its own first hash.
    path = list(path) if first & (first - 1) else [first_root, *path]
    place, last = first - 1, second - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    old = new = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if place & 1 or place == last:
            old, new = node(other, old), node(other, new)
            while not place & 1 and place:
                place, last = place >> 1, last >> 1
        else:
            new = node(new, other)
        place, last = place >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root


def is_signed(head, log):
    """Whether a head is by the log with that public key, as `GET /v1/keys/log` has it."""
    signed = (b"roost-key-log-v1" + head["size"].to_bytes(8, "big") + milliseconds(head["time"]).to_bytes(8, "big")
              + bytes.fromhex(head["root"]))
    signature = base64.b64decode(head["signature"])
    key = serialization.load_der_public_key(base64.b64decode(log))
    pair = utils.encode_dss_signature(*(int.from_bytes(signature[at:at + 32], "big") for at in (0, 32)))
    try:
        key.verify(pair, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        return False
    return len(signature) == 64


def fault(person, salt, entry, head):
    """What is wrong with an entry beside a head; None: it is in that tree."""
    found = leaf_hash(leaf(person, salt, entry))
    if found.hex() != entry["id"]:
        return f"the entry isn't its leaf's: {entry}"
    root = follows(found, entry["leaf"], head["size"], [bytes.fromhex(each) for each in entry["path"]])
    return None if root == bytes.fromhex(head["root"]) else f"the path doesn't lead to the head {head}: {entry}"


def has_grown(first, second, path):
    """Whether one head follows another."""
    return grew(first["size"], bytes.fromhex(first["root"]), second["size"], bytes.fromhex(second["root"]),
                [bytes.fromhex(each) for each in path])
