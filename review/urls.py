"""The people's addresses of proposals."""

from django.urls import path

from review.views import policy, trail
from review.views.decide import decide_view
from review.views.edit import edit
from review.views.proposal import proposal
from review.views.queue import queue, queue_new
from review.views.withdraw import withdraw_view

urlpatterns = [
    path("", queue, name="queue"),
    path("queue/new/", queue_new, name="queue_new"),
    path("proposals/<uuid:id>/", proposal, name="proposal"),
    path("proposals/<uuid:id>/edit/", edit, name="edit"),
    path("proposals/<uuid:id>/decide/", decide_view, name="decide"),
    path("proposals/<uuid:id>/withdraw/", withdraw_view, name="withdraw"),
    path("quarantine/<uuid:id>/decide/", decide_view, name="quarantine_decide"),
    path("policy/", policy.policy, name="policy"),
    path("policy/edit/", policy.edit, name="policy_edit"),
    path("policy/propose/", policy.propose, name="policy_propose"),
    path("audit/", trail.trail, name="audit"),
    path("audit/<int:seq>/", trail.entry, name="audit_entry"),
    path("audit/verify/", trail.verify_log, name="audit_verify"),
    path("audit/export.jsonl", trail.export_jsonl, name="audit_export_jsonl"),
    path("audit/export.csv", trail.export_csv, name="audit_export_csv"),
]
