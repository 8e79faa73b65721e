"""Keys of devices, of each kind that docs/keys.md allows, of the server as a process: published, proven, wrapped for, and refused."""

import base64
import os
import random
import re
import signal
import unittest

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from callers import UNBOUNDED, call, heard, started
from key_proofs import fault, has_grown, is_signed
from limits import LimitedTest
from roost import HERE, Roost
from storage_test import Directory

PROBLEM = "urn:roost:problem:"
LABEL = b"call key"
OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)


def text(data):
    return base64.b64encode(data).decode()


def info(key):
    """SubjectPublicKeyInfo in DER."""
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def point(key, form=serialization.PublicFormat.UncompressedPoint):
    return key.public_bytes(serialization.Encoding.X962, form)


def numbers(bits, exponent=65_537, seed=1):
    """An RSA key whose modulus has that many bits, and factors that no one knows."""
    modulus = random.Random(f"{bits} {seed}").getrandbits(bits) | 1 | 1 << bits - 1
    return info(rsa.RSAPublicNumbers(exponent, modulus).public_key())


def stretched(secret):
    return AESGCM(HKDF(hashes.SHA256(), 32, None, LABEL).derive(secret))


class P256:
    """As an app does it: ECDH with a key of the moment, which stands in front, HKDF-SHA-256 and AES-256-GCM."""

    def __init__(self):
        self._private = ec.generate_private_key(ec.SECP256R1())
        self.public = point(self._private.public_key())

    @staticmethod
    def wrapped(key, public):
        own = ec.generate_private_key(ec.SECP256R1())
        other = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public)
        return point(own.public_key()) + stretched(own.exchange(ec.ECDH(), other)).encrypt(bytes(12), key, None)

    def unwrapped(self, ciphertext):
        other = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), ciphertext[:65])
        return stretched(self._private.exchange(ec.ECDH(), other)).decrypt(bytes(12), ciphertext[65:], None)


class RSA:
    """RSA-OAEP with SHA-256."""

    def __init__(self):
        self._private = rsa.generate_private_key(65_537, 2_048)
        self.public = info(self._private.public_key())

    @staticmethod
    def wrapped(key, public):
        return serialization.load_der_public_key(public).encrypt(key, OAEP)

    def unwrapped(self, ciphertext):
        return self._private.decrypt(ciphertext, OAEP)


KINDS = {"p256": P256, "rsa-oaep-256": RSA}


def publish(roost, person, algorithm, key, device="phone"):
    return call(roost, person, "PUT", f"/v1/keys/{person}", {"device": device, "algorithm": algorithm, "key": text(key)})


class KeysTest(LimitedTest):
    def proven(self, roost, answer, person, algorithm, key):
        """What an answer to a key says is in the tree of a head that the log has signed; the entry and the head."""
        self.assertEqual(answer.status, 201, answer.body)
        receipt = answer.json
        entry, head = receipt["entry"], receipt["head"]
        self.assertEqual((receipt["person"], entry["device"], entry["algorithm"], entry["key"]), (person, "phone", algorithm, text(key)))
        self.assertIsNone(fault(person, receipt["salt"], entry, head))
        log = call(roost, "zoe", "GET", "/v1/keys/log").json
        self.assertEqual(log["algorithm"], "ecdsa-p256-sha256")
        self.assertTrue(is_signed(head, log["key"]), head)
        # A single other bit would be seen.
        flipped = text(bytes([key[0], key[1] ^ 1]) + key[2:])
        self.assertIsNotNone(fault(person, receipt["salt"], entry | {"key": flipped}, head))
        return entry, head

    def refused(self, roost, person, algorithm, key, word):
        answer = publish(roost, person, algorithm, key)
        self.assertEqual((answer.status, answer.json["type"]), (400, PROBLEM + "body"), answer.body)
        self.assertIn(word, answer.json["detail"])

    def test_a_call_s_key_comes_to_a_device_by_a_key_of_each_kind_that_the_page_names(self):
        with open(os.path.join(HERE, "../../docs/keys.md"), encoding="utf-8") as file:
            self.assertEqual(set(re.findall(r"^\| \d \| `([\w-]+)` \|", file.read(), re.M)), set(KINDS))
        with Directory() as directory:
            with Roost(directory, *UNBOUNDED) as roost:
                devices, known, last = {}, {}, {"size": 0, "root": ""}
                for algorithm, kind in KINDS.items():
                    person = f"bob-{algorithm}"
                    devices[person] = kind()
                    entry, head = self.proven(roost, publish(roost, person, algorithm, devices[person].public), person, algorithm,
                                              devices[person].public)
                    known[person] = (algorithm, entry)
                    last = max(last, head, key=lambda each: each["size"])
                for person, device in devices.items():
                    self.exchanged(roost, person, device, *known[person])
                roost.signal(signal.SIGKILL)
            with Roost(directory, *UNBOUNDED) as roost:
                for person, (_, entry) in known.items():
                    now = call(roost, "ada", "GET", f"/v1/keys/{person}?head={last['size']}").json
                    self.assertEqual([each["id"] for each in now["keys"]], [entry["id"]])
                    self.assertIsNone(fault(person, now["salt"], now["keys"][0], now["head"]))
                    self.assertTrue(has_grown(last, now["head"], now.get("consistency", [])))

    def exchanged(self, roost, person, device, algorithm, entry):
        """Ada wraps a key for what the log says, and the device has it by the ring and by join."""
        found = call(roost, "ada", "GET", f"/v1/keys/{person}").json
        self.assertEqual([(each["id"], each["algorithm"]) for each in found["keys"]], [(entry["id"], algorithm)])
        self.assertIsNone(fault(person, found["salt"], found["keys"][0], found["head"]))
        secret = os.urandom(32)
        ciphertext = KINDS[algorithm].wrapped(secret, base64.b64decode(found["keys"][0]["key"]))
        number, answer = started(roost, "ada", person, e2ee=True,
                                 keys=[{"person": person, "device": "phone", "keyId": entry["id"], "ciphertext": text(ciphertext)}])
        self.assertEqual(answer.status, 201, answer.body)
        ring = [each["data"] for each in heard(roost, person, device="phone", limit=20)[0] if each["event"] == "call.ringing"][0]
        joined = call(roost, person, "POST", f"/v1/calls/{number}/join", {"deviceId": "phone"})
        for said in (ring, joined.json):
            self.assertEqual((said["key"]["keyId"], said["keyFrom"], said["keyIndex"]), (entry["id"], "ada", 0))
            self.assertEqual(device.unwrapped(base64.b64decode(said["key"]["ciphertext"])), secret)
        self.assertEqual(call(roost, "ada", "POST", f"/v1/calls/{number}/leave", {}).status, 200)

    def test_rsa_keys_have_2048_to_8192_bits_and_an_odd_exponent_of_32_bits_at_most(self):
        with Roost(*UNBOUNDED) as roost:
            sizes = [(2_048, 65_537), (2_049, 65_537), (3_072, 65_537), (4_096, 65_537), (8_192, 65_537), (2_048, 3), (2_048, 2**32 - 1)]
            for bits, exponent in sizes:
                with self.subTest(bits=bits, exponent=exponent):
                    person, key = f"p-{bits}-{exponent}", numbers(bits, exponent)
                    self.proven(roost, publish(roost, person, "rsa-oaep-256", key), person, "rsa-oaep-256", key)
            size = call(roost, "ada", "GET", "/v1/keys/head").json["size"]
            self.assertEqual(size, len(sizes))
            for bits in (1_024, 2_047, 8_193):
                with self.subTest(bits=bits):
                    self.refused(roost, "eve", "rsa-oaep-256", numbers(bits), f"{bits} bits")
            self.refused(roost, "eve", "rsa-oaep-256", numbers(2_048, 2**32 + 1), "exponent")
            # What is refused is nowhere, and counts for nothing.
            self.assertEqual(call(roost, "ada", "GET", "/v1/keys/eve").json["keys"], [])
            self.assertEqual(call(roost, "ada", "GET", "/v1/keys/head").json["size"], size)
            self.assertEqual(publish(roost, "eve", "rsa-oaep-256", numbers(2_048)).status, 201)

    def test_what_is_wrapped_for_the_largest_key_fits_into_a_call(self):
        with Roost(*UNBOUNDED) as roost:
            entry = publish(roost, "bob", "rsa-oaep-256", numbers(8_192)).json["entry"]
            for size, status in ((1_024, 201), (1_025, 413)):
                ciphertext = text(os.urandom(size))
                _, answer = started(roost, "ada", "bob", e2ee=True,
                                    keys=[{"person": "bob", "device": "phone", "keyId": entry["id"], "ciphertext": ciphertext}])
                self.assertEqual(answer.status, status, answer.body)
            rings = [each["data"]["key"] for each in heard(roost, "bob", device="phone", limit=20)[0] if each["event"] == "call.ringing"]
            self.assertEqual([len(base64.b64decode(each["ciphertext"])) for each in rings], [1_024])

    def test_a_key_is_of_its_kind_and_in_its_one_form(self):
        private = rsa.generate_private_key(65_537, 2_048)
        curve, other = ec.generate_private_key(ec.SECP256R1()).public_key(), ec.generate_private_key(ec.SECP384R1()).public_key()
        pkcs1 = private.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
        pem = private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        with Roost(*UNBOUNDED) as roost:
            wrong = {"a point": point(curve), "another algorithm": info(curve), "PKCS #1": pkcs1, "PEM": pem,
                     "a byte more": info(private.public_key()) + b"\0", "a byte less": info(private.public_key())[:-1]}
            for name, key in wrong.items():
                with self.subTest(name):
                    self.refused(roost, "bob", "rsa-oaep-256", key, "RSA key")
            wrong = {"compressed": point(curve, serialization.PublicFormat.CompressedPoint), "another curve": point(other), "DER": info(curve),
                     "not on the curve": point(curve)[:-1] + bytes([point(curve)[-1] ^ 1]), "an RSA key": info(private.public_key())}
            for name, key in wrong.items():
                with self.subTest(name):
                    self.refused(roost, "bob", "p256", key, "P-256")
            self.assertEqual(call(roost, "ada", "GET", "/v1/keys/head").json["size"], 0)


if __name__ == "__main__":
    unittest.main()
