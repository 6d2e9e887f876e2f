"""The policies of the two demo workspaces."""

from __future__ import annotations

from typing import Any

MEMORY_RULES: list[dict[str, Any]] = [
    {"tool": "memory.write", "risk": "low", "approvals": 1},
    {"tool": "memory.release", "risk": "high", "approvals": 2},
]

DEFAULTS: dict[str, Any] = {"route": "review", "risk": "medium", "approvals": 1, "ttl_seconds": 604_800}

ACME: dict[str, Any] = {
    "defaults": DEFAULTS,
    "rules": [
        *MEMORY_RULES,
        {
            "tool": "mail.send",
            "risk": "high",
            "approvals": 2,
            "ttl_seconds": 86_400,
            "audience": "mailer",
            "schema": {"type": "object"},
        },
        {"tool": "payments.payout", "risk": "high", "approvals": 2, "step_up": True, "confirm": "/account"},
        {"tool": "payments.refund", "risk": "medium", "approvals": 1},
        {"tool": "search.*", "route": "allow", "risk": "low"},
        {"tool": "shell.*", "route": "block"},
    ],
}

GLOBEX: dict[str, Any] = {"defaults": DEFAULTS, "rules": MEMORY_RULES}
