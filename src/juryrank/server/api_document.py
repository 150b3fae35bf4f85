"""The OpenAPI document: the routes of the framework, and what it cannot know of the others."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

ID = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
NUMBER = {"type": ["number", "null"]}
LIST = {
    "anyOf": [
        {"type": "array", "items": ID, "description": "ids in order, best first"},
        {"type": "object", "additionalProperties": {"type": "number"}, "description": "{id: score}"},
        {
            "type": "array",
            "items": {"type": "array", "prefixItems": [ID, {"type": "number"}], "minItems": 2, "maxItems": 2},
            "description": "[[id, score], …]",
        },
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": ID, "score": NUMBER, "_id": ID, "_score": NUMBER},
                "anyOf": [{"required": ["id"]}, {"required": ["_id"]}],
            },
            "description": "hits: by score, or in order where none has one; other fields do not matter",
        },
    ]
}
LISTS = {"type": "object", "additionalProperties": LIST, "description": "a list for each expert"}
NUMBERS = {"type": "object", "additionalProperties": {"type": "number"}}
FUSE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "lists": LISTS,
        "queries": {"type": "object", "additionalProperties": LISTS, "description": "a batch: the lists of each query"},
        "model": {"type": "string", "description": "the name of a model; by default the only one"},
        "method": {"type": "string", "description": "a method instead of a model, such as rrf"},
        "weights": {**NUMBERS, "description": "of experts, for a method"},
        "params": {
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean", "object", "null"]},
            "description": 'of the method, such as {"k": 60}',
        },
        "top": {"type": ["integer", "null"], "minimum": 1, "description": "how many items are returned; null: all"},
        "explain": {"type": "boolean", "description": "adds ranks and contributions by expert"},
    },
    "oneOf": [{"required": ["lists"]}, {"required": ["queries"]}],
    "not": {"required": ["model", "method"]},
    "dependentRequired": {"weights": ["method"], "params": ["method"]},
    "examples": [{"lists": {"bm25": ["a", "b"], "dense": {"b": 0.9, "c": 0.8}}, "method": "rrf", "top": 2}],
}
EXPLAIN = {
    **{name: value for name, value in FUSE.items() if name != "oneOf"},
    "properties": {name: value for name, value in FUSE["properties"].items() if name != "queries"},
    "required": ["lists"],
}
ITEM = {
    "type": "object",
    "required": ["id", "score"],
    "properties": {
        "id": ID,
        "score": {"type": "number"},
        "ranks": NUMBERS,
        "contributions": {"oneOf": [NUMBERS, {"type": "null"}]},
    },
}
FUSED = {
    "type": "object",
    "required": ["method", "model", "warnings"],
    "properties": {
        "method": {"type": "string"},
        "model": {
            "oneOf": [
                {"type": "object", "properties": {"name": {"type": "string"}, "version": {"type": "string"}}},
                {"type": "null"},
            ]
        },
        "warnings": {"type": "array", "items": {"type": "string"}},
        "items": {"type": "array", "items": ITEM},
        "queries": {"type": "object", "additionalProperties": {"type": "array", "items": ITEM}},
    },
}
SHOWN = {"type": "array", "items": ID}
ENTRY = {
    "type": "object",
    "additionalProperties": False,
    "required": ["query"],
    "properties": {
        "key": {
            "type": "string", "minLength": 1, "maxLength": 255,
            "description": "the same when the request is repeated, so that it is stored once; "
            "or the header Idempotency-Key",
        },
        "query": {"type": "string", "minLength": 1, "description": "the text or the id of the query"},
        "lists": {**LISTS, "description": "the lists that were fused; those of an earlier entry if left out"},
        "labels": {
            "type": "object",
            "additionalProperties": {"oneOf": [{"type": "number", "minimum": 0, "maximum": 1e50}, {"type": "null"}]},
            "description": "{id: grade}, higher is better; null takes back what the judge said",
        },
        "clicks": {
            "type": "object",
            "additionalProperties": False,
            "required": ["shown", "clicked"],
            "properties": {
                "shown": {**SHOWN, "minItems": 1, "description": "all items that were shown, in order"},
                "clicked": {**SHOWN, "description": "those of them that were clicked"},
                "propensity": {**NUMBERS, "description": "the probability of the place of each item that was shown"},
            },
        },
        "model": {"type": "string", "description": "the model that learns from it; by default the only one"},
        "judge": {"type": "string", "description": "who gave the labels; the last label of a judge counts"},
    },
    "examples": [
        {"key": "4711", "query": "covid origin", "lists": {"bm25": ["a", "b"], "dense": ["b", "c"]}, "labels": {"b": 1}}
    ],
}  # fmt: skip
FEEDBACK = {
    "oneOf": [
        ENTRY,
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["feedback"],
            "properties": {"feedback": {"type": "array", "items": ENTRY, "minItems": 1}},
        },
    ]
}
STORED = {
    "type": "object",
    "required": ["stored", "duplicates", "warnings"],
    "properties": {
        "stored": {"type": "integer"},
        "duplicates": {"type": "integer", "description": "entries whose key and content were there already"},
        "warnings": {"type": "array", "items": {"type": "string"}},
    },
}
REFIT = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "promote": {
            "oneOf": [{"type": "boolean"}, {"enum": ["never", "gain"]}, {"type": "null"}],
            "description": "whether the new version comes into use; gain: if the interval of the gain is above 0",
        }
    },
}
TEXT, NUMBER = {"type": ["string", "null"]}, {"type": ["number", "null"]}
NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"}
VERSION = {
    "type": "object",
    "required": ["name", "version"],
    "properties": {"name": {"type": "string"}, "version": {"type": "string"}},
}
SUMMARY = {
    "type": "object",
    "required": ["name", "usable"],
    "properties": {
        "name": {"type": "string"},
        "usable": {"type": "boolean"},
        "version": {"type": "string", "description": "a digest of the model file"},
        "method": {"type": "string"},
        "experts": {"type": "array", "items": {"type": "string"}, "description": "that it has learned from"},
        "since": {**TEXT, "description": "when its file was written"},
        "fault": {"type": "string", "description": "why its file cannot be read"},
    },
}
MODEL: dict[str, Any] = {
    **SUMMARY,
    "properties": {
        **SUMMARY["properties"],  # type: ignore[dict-item]
        "size": {"type": "integer"},
        "params": {"type": "object"},
        "weights": {"type": "object", "description": "what it has learned of each expert"},
        "learned_queries": {"type": ["integer", "null"], "description": "how many queries it has learned from"},
        "learned_experts": {"type": ["integer", "null"]},
        "held_out": {
            "type": ["object", "null"],
            "description": "the gain over RRF on held-out queries, with a 95 % interval",
            "properties": {
                "metric": TEXT,
                "queries": {"type": "integer"},
                **dict.fromkeys(("gain_over_rrf", "standard_error", "low", "high"), NUMBER),
            },
        },
        "report": TEXT,
        "verdict": {"type": ["object", "null"]},
        "versions": {"type": "array", "items": {"type": "object"}, "description": "that are kept, newest first"},
    },
}
READY = {
    "type": "object",
    "required": ["status", "usable_models", "damaged_models"],
    "properties": {
        "status": {"enum": ["ok", "degraded", "unavailable"]},
        "usable_models": {"type": "array", "items": {"type": "string"}},
        "damaged_models": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "request_id": {"type": "string"},
    },
}
# What a client may be told, beside the answer of each route.
REFUSALS = {
    "400": "The body is not JSON", "401": "No key, or an unknown one", "403": "The key has another scope",
    "404": "There is no such model", "405": "The method is not allowed", "408": "The body came too slowly",
    "409": "The request conflicts with another", "413": "Too large", "422": "The request does not fit",
    "429": "Too many requests", "500": "A fault of the service",
    "503": "Too much is under way, or the store is locked", "507": "The disk is full",
}  # fmt: skip


def answered(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The description of an answer."""
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def body(schema: dict[str, Any], *, required: bool = True) -> dict[str, Any]:
    """The ``requestBody`` of a route."""
    return {"required": required, "content": {"application/json": {"schema": schema}}}


def complete_document(routes: FastAPI, bodies: dict[str, dict[str, Any]] | None = None) -> None:
    """Make the document of the application complete; ``bodies`` are request bodies by ``"post /path"``."""
    described = {
        "put /v1/models/{name}": body({"type": "object", "description": "a model file of juryrank"}),
        "post /v1/models/{name}/rollback": body(
            {"type": "object", "additionalProperties": False, "properties": {"version": {"type": "string"}}},
            required=False,
        ),
        "post /v1/feedback": body(FEEDBACK),
        "post /v1/models/{name}/refit": body(REFIT, required=False),
        **(bodies or {}),
    }

    def document() -> dict[str, Any]:
        if routes.openapi_schema is None:
            found = get_openapi(
                title=routes.title, version=routes.version, description=routes.description, routes=routes.routes
            )
            _add_fusion(found["paths"])
            _describe(found, described)
            routes.openapi_schema = found
        return routes.openapi_schema

    routes.openapi = document  # type: ignore[method-assign]


# Answers that the framework does not know, by operation and status.
ANSWERS: dict[str, dict[str, dict[str, Any]]] = {
    "get /v1/models": {
        "200": answered("The models", {"type": "object", "properties": {"models": {"type": "array", "items": SUMMARY}}})
    },
    "get /v1/models/{name}": {"200": answered("The model", MODEL)},
    "put /v1/models/{name}": {"201": answered("The version that is in use from now on", VERSION)},
    "post /v1/models/{name}/rollback": {"200": answered("The version that is in use again", VERSION)},
    "get /readyz": {
        "200": answered("Requests can be answered", READY),
        "503": answered("No model can be used, or not the default one", READY),
    },
    "get /metrics": {"200": {"description": "The metrics", "content": {"text/plain": {"schema": {"type": "string"}}}}},
}


def _add_fusion(paths: dict[str, Any]) -> None:
    answers = {"200": answered("The fused list", FUSED)}
    for path, name, sent, summary in (
        ("/v1/fuse", "fuse", FUSE, "Fuse the lists of one query or of a batch"),
        ("/v1/explain", "explain", EXPLAIN, "Fuse the lists of one query, with ranks and contributions by expert"),
    ):
        operation = {"summary": summary, "operationId": name, "requestBody": body(sent), "responses": dict(answers)}
        paths[path] = {"post": operation}


def _describe(found: dict[str, Any], described: dict[str, dict[str, Any]]) -> None:
    """Bodies, refusals and keys of all operations."""
    found["components"] = {
        "schemas": {"Problem": PROBLEM},
        "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
    }
    refusal = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for path, item in found["paths"].items():
        for method, operation in item.items():
            if (wanted := described.get(f"{method} {path}")) is not None:
                operation["requestBody"] = wanted
            for parameter in operation.get("parameters", ()):
                parameter["schema"] = NAME  # of a model, in the path
            operation["responses"].pop("422", None)
            if (answers := ANSWERS.get(f"{method} {path}")) is not None:
                operation["responses"] = dict(answers)
            for status, text in REFUSALS.items():
                operation["responses"].setdefault(status, {"description": text, "content": refusal})
            if path not in ("/healthz", "/readyz"):
                operation["security"] = [{"key": []}, {}]
