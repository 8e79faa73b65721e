"""openapi_judge.py DOCUMENT EXCHANGES: holds what was asked of a server, and what it answered, to its description.

DOCUMENT is OpenAPI 3.1 as it was served, EXCHANGES has one of them a line, as openapi_test.py writes them. Prints JSON: `faults`, each in a
line of text; `described`, the pairs of operation and status that the document has; `seen`, those that were answered. It runs with the
validators of .build-python, which know nothing of this server, and allows no field that isn't named."""

import base64
import json
import re
import sys
import urllib.parse

from openapi_schema_validator import OAS31Validator, oas31_format_checker
from openapi_spec_validator import OpenAPIV31SpecValidator

# What answers have by HTTP itself, by caching and by CORS.
GENERAL = {"date", "connection", "content-length", "content-type", "transfer-encoding", "cache-control", "vary"}
CROSS_ORIGIN = "access-control-"


class Fault(Exception):
    """What is wrong with an exchange."""


def strict(schema):
    """The same schema, allowing no field that it doesn't name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    copy = {key: strict(value) for key, value in schema.items()}
    if isinstance(copy.get("properties"), dict):
        copy.setdefault("additionalProperties", False)
    return copy


def kind_of(headers):
    """The media type of a body, without parameters."""
    return headers.get("content-type", "").split(";")[0].strip().lower()


class Description:
    def __init__(self, document):
        self.document = document
        self.schemas = strict(document["components"]["schemas"])
        self.operations = {}
        for template, methods in document["paths"].items():
            shared = methods.get("parameters", [])
            for method, operation in methods.items():
                if method != "parameters":
                    parameters = [self.resolved(each) for each in shared + operation.get("parameters", [])]
                    self.operations[method.upper(), template] = operation | {"parameters": parameters}

    def resolved(self, value):
        while "$ref" in value:
            found = self.document
            for part in value["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            value = found
        return value

    def check(self, what, schema, value):
        root = strict(schema) | {"components": {"schemas": self.schemas}}
        validator = OAS31Validator(root, format_checker=oas31_format_checker)
        for error in validator.iter_errors(value):
            raise Fault(f"{what}: {'.'.join(map(str, error.path))}: {error.message[:300]}")

    def place(self, method, target):
        """The template that a request goes to, with what stands for its names, its query, and every method that is described there.

        A path may fit two templates, as /v1/calls/events and /v1/calls/{call}: the more exact one of those that have the method counts."""
        path, _, query = target.partition("?")
        found = []
        for template in self.document["paths"]:
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(template))
            if match := re.fullmatch(pattern, path):
                found.append((template.count("{"), template, {name: urllib.parse.unquote(text) for name, text in match.groupdict().items()}))
        if not found:
            raise Fault("no such path is described")
        known = {each for each, place in self.operations if any(place == template for _, template, _ in found)}
        wanted = "GET" if method == "HEAD" else method
        _, template, names = min(found, key=lambda each: ((wanted, each[1]) not in self.operations, each[0]))
        return template, names, urllib.parse.parse_qsl(query, keep_blank_values=True), known

    def text(self, what, parameter, text):
        """A parameter or a header as its schema's type."""
        schema = self.resolved(parameter["schema"])
        value = text
        if schema.get("type") == "integer":
            if not re.fullmatch(r"-?\d+", text):
                raise Fault(f"{what}: {text!r} is no integer")
            value = int(text)
        elif schema.get("type") == "boolean":
            if text == "" and parameter.get("allowEmptyValue"):
                return
            if text not in ("true", "false"):
                raise Fault(f"{what}: {text!r} is not true or false")
            value = text == "true"
        self.check(what, schema, value)


class Exchange:
    def __init__(self, line):
        said = json.loads(line)
        self.method, self.target, self.status = said["method"], said["target"], str(said["status"])
        self.sent = {name.lower(): value for name, value in said["sent"].items()}
        self.heard = {}
        for name, value in said["heard"]:
            self.heard.setdefault(name.lower(), value)
        self.body, self.answer = base64.b64decode(said["body"]), base64.b64decode(said["answer"])

    def __str__(self):
        return f"{self.method} {self.target} {self.status} {self.body[:200]!r} {self.answer[:200]!r}"

    def judge(self, description):
        """Returns: the operation's id; None where none was meant."""
        template, names, query, known = description.place(self.method, self.target)
        if self.method == "OPTIONS" or self.method not in known | ({"HEAD"} if "GET" in known else set()):
            self.judge_methods(description, known)
            return None
        operation = description.operations["GET" if self.method == "HEAD" else self.method, template]
        if self.status.startswith("2"):
            self.judge_request(description, operation, names, query)
        self.judge_answer(description, operation)
        return operation["operationId"]

    def judge_methods(self, description, known):
        """Of OPTIONS, and of a method that isn't described."""
        allowed = {each.strip() for each in self.heard.get("allow", "").split(",")}
        if allowed != known | ({"HEAD"} if "GET" in known else set()) | {"OPTIONS"}:
            raise Fault(f"Allow is {sorted(allowed)}")
        if self.method == "OPTIONS":
            if self.status not in ("200", "204") or self.answer:
                raise Fault("OPTIONS is answered by 200 or 204 without content")
        elif self.status != "405" or kind_of(self.heard) != "application/problem+json":
            raise Fault("a method that isn't described is answered by a problem of 405")
        else:
            description.check("body", {"$ref": "#/components/schemas/Problem"}, json.loads(self.answer))

    def judge_request(self, description, operation, names, query):
        """What was accepted is what is described."""
        if operation["security"] and not self.sent.get("authorization", "").startswith("Bearer "):
            raise Fault("accepted without a token")
        given = {"path": names, "query": dict(query), "header": self.sent}
        for parameter in operation["parameters"]:
            name = parameter["name"]
            name = name.lower() if parameter["in"] == "header" else name
            if name in given[parameter["in"]]:
                description.text(f"parameter {name}", parameter, given[parameter["in"]][name])
            elif parameter.get("required"):
                raise Fault(f"accepted without the parameter {name}")
        if unknown := set(dict(query)) - {each["name"] for each in operation["parameters"] if each["in"] == "query"}:
            raise Fault(f"the query's {', '.join(unknown)} isn't described")
        if "requestBody" not in operation:
            if self.body:
                raise Fault("accepted with a body that isn't described")
            return
        content = description.resolved(operation["requestBody"])["content"]
        kind = kind_of(self.sent)
        if kind not in content:
            raise Fault(f"accepted with a body of type {kind}")
        value = json.loads(self.body) if kind.endswith("json") else self.body.decode()
        description.check("request", content[kind]["schema"], value)

    def judge_answer(self, description, operation):
        if self.status not in operation["responses"]:
            raise Fault(f"{operation['operationId']} has no status {self.status}")
        answer = description.resolved(operation["responses"][self.status])
        headers = answer.get("headers", {})
        for name, header in headers.items():
            header = description.resolved(header)
            if name.lower() in self.heard:
                description.text(f"header {name}", header, self.heard[name.lower()])
            elif header.get("required"):
                raise Fault(f"the header {name} is missing")
        for name in self.heard:
            if name not in GENERAL | {each.lower() for each in headers} and not name.startswith(CROSS_ORIGIN):
                raise Fault(f"the header {name} isn't described")
        content = answer.get("content", {})
        kind = kind_of(self.heard)
        if kind != "" and kind not in content or not kind and content:
            raise Fault(f"content of type {kind or 'none'}; described: {', '.join(content) or 'none'}")
        if self.method == "HEAD" or not content:
            if self.answer:
                raise Fault("there is content, and none is described")
            return
        schema = content[kind]["schema"]
        if kind.endswith("json"):
            body = json.loads(self.answer)
            description.check("body", schema, body)
            if kind == "application/problem+json" and str(body["status"]) != self.status:
                raise Fault(f"the problem's status is {body['status']}")
        elif kind == "text/event-stream":
            for event in events(self.answer.decode()):
                judge_event(description, content[kind]["x-itemSchema"], event)
        else:
            binary = schema.get("format") == "binary"
            description.check("body", schema, self.answer.decode("latin-1" if binary else "utf-8"))


def events(text):
    """The events of a stream, by their fields; comments are none, and what its end has cut off isn't either."""
    for block in text.split("\n\n")[:-1]:
        fields = [line.split(": ", 1) for line in block.split("\n") if not line.startswith(":")]
        if fields:
            yield dict(fields)


def judge_event(description, schema, event):
    description.check("event", schema, event)
    for form in description.resolved(schema)["oneOf"]:
        validator = OAS31Validator(form)
        if validator.is_valid(event):
            data = json.loads(event["data"])
            description.check(f"data of {event['event']}", form["properties"]["data"]["contentSchema"], data)
            if data.get("type", event["event"]) != event["event"]:
                raise Fault(f"the event {event['event']} has data of {data['type']}")


def references(value):
    """What a part of the document refers to."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    for each in value if isinstance(value, list) else []:
        yield from references(each)


def idle(document):
    """Components to which no operation leads."""
    reached, waiting = set(), list(references(document["paths"]))
    while waiting:
        if (name := waiting.pop()) not in reached:
            reached.add(name)
            _, _, kind, part = name.split("/")
            waiting += references(document["components"][kind][part])
    return [name for kind in ("schemas", "responses", "parameters") for part in document["components"][kind]
            if (name := f"#/components/{kind}/{part}") not in reached]


def main(document, exchanges):
    document = json.load(open(document))
    faults = [f"the document: {'.'.join(map(str, each.path))}: {each.message[:300]}"
              for each in OpenAPIV31SpecValidator(document).iter_errors()]
    faults += [f"the document: no operation leads to {name}" for name in idle(document)]
    description, seen = Description(document), set()
    for line in open(exchanges):
        exchange = Exchange(line)
        try:
            if operation := exchange.judge(description):
                seen.add((operation, exchange.status))
        except Fault as fault:
            faults.append(f"{exchange}\n  {fault}")
    described = sorted((operation["operationId"], status) for operation in description.operations.values()
                       for status in operation["responses"])
    json.dump({"faults": faults, "described": described, "seen": sorted(seen)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
