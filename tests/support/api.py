"""The agents' API as a test calls it: one line a request, through Django's own client and every middleware."""

from __future__ import annotations

import json
from typing import Any

from django.test import Client

from review.access.actors import AgentActor
from tests.support.factories import bearer


class Api:
    """Calls as `agent`; answers are Django's responses."""

    def __init__(self, agent: AgentActor | None) -> None:
        self._headers = bearer(agent) if agent else {}
        self._client = Client(raise_request_exception=False)

    def get(self, path: str, **headers: str) -> Any:
        return self._client.get(f"/api/v1{path}", **{**self._headers, **headers})

    def post(
        self,
        path: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        media: str = "application/json",
        **headers: str,
    ) -> Any:
        content = json.dumps(body).encode() if raw is None else raw
        return self._client.post(
            f"/api/v1{path}", data=content, content_type=media, **{**self._headers, **headers}
        )

    def request(self, method: str, path: str, **headers: str) -> Any:
        return self._client.generic(method, f"/api/v1{path}", **{**self._headers, **headers})

    def propose(self, tool: str = "payments.refund", arguments: Any = None, **more: Any) -> Any:
        return self.post(
            "/proposals",
            {"tool": tool, "arguments": {"order": "20817"} if arguments is None else arguments, **more},
        )


def problem(answer: Any) -> tuple[int, str]:
    """Return status and code of a refusal, which is always a whole problem document."""
    assert answer.headers["Content-Type"] == "application/problem+json", answer.content[:200]
    body = answer.json()
    assert body["status"] == answer.status_code and body["title"] and body["detail"]
    assert body["type"].endswith(f"/help/problems/{body['code']}/") and body["request_id"]
    return answer.status_code, body["code"]
