"""The reference of the HTTP API, from the OpenAPI description that the server itself gives."""

import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[2] / "tests" / "golden" / "v1"
"""A tiny model, so that there is something to serve."""


def openapi() -> dict[str, Any]:
    """What ``/openapi.json`` answers."""
    import levt
    from levt.serving.app import create_app
    from levt.serving.service import Service

    found: dict[str, Any] = create_app(Service(levt.load(GOLDEN, device="cpu"), "tiny")).app.openapi()
    return found


def page() -> str:
    """The whole page."""
    api = openapi()
    parts = [
        "# HTTP",
        "Made from `/openapi.json`. What the paths are for, and how errors look, is told in "
        "[HTTP in words](../http-api.md).",
    ]
    for path, methods in api["paths"].items():
        for method, said in methods.items():
            parts += [f"## {method.upper()} {path}", said.get("description", "")]
            body = said.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "schema" in body:
                parts.append(f"Body: {kind(body['schema'])}")
            rows = [f"| {status} | {answer(reply)} |" for status, reply in said["responses"].items()]
            parts.append("\n".join(["| status | answer |", "|---|---|", *rows]))
    parts.append("## Objects")
    for name, schema in api["components"]["schemas"].items():
        parts += [f"### {name}", cell(schema.get("description", ""))]
        if fields := schema.get("properties"):
            parts.append("\n".join(["| field | type | meaning |", "|---|---|---|", *rows_of(schema, fields)]))
    return "\n\n".join(part for part in parts if part) + "\n"


def answer(reply: dict[str, Any]) -> str:
    """What comes back with a status."""
    kinds = [kind(content["schema"]) for content in reply.get("content", {}).values() if "schema" in content]
    return " ".join([cell(reply["description"]), *(f"({one})" for one in kinds)])


def rows_of(schema: dict[str, Any], fields: dict[str, Any]) -> list[str]:
    """The fields of an object; those that must be given are bold."""
    required = schema.get("required", [])
    rows = []
    for name, field in fields.items():
        shown = f"**`{name}`**" if name in required else f"`{name}`"
        meaning = cell(field.get("description", ""))
        if "default" in field:
            meaning = f"{meaning} (`{json.dumps(field['default'], ensure_ascii=False)}`)".strip()
        rows.append(f"| {shown} | {kind(field)} | {meaning} |")
    return rows


def kind(schema: dict[str, Any]) -> str:
    """The type of a value, in words, with links to the objects.

    >>> kind({"type": "array", "items": {"type": "integer"}})
    'list of integer'
    """
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(kind(one) for one in schema[several])
    if "const" in schema or "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


def cell(text: str) -> str:
    """A text that stays in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
