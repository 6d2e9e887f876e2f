"""The people's addresses of proposals."""

from django.urls import path

from review.views import (
    adoption,
    agent,
    agents,
    insights,
    notices,
    policy,
    trail,
    trail_export,
    trail_life,
    webhooks,
)
from review.views.claim import claim, let_go
from review.views.comment import comment_view
from review.views.decide import decide_view
from review.views.edit import edit
from review.views.icon import icon
from review.views.meanwhile import meanwhile
from review.views.preview import preview
from review.views.proposal import proposal
from review.views.queue import queue, queue_new
from review.views.rule import rule
from review.views.saved_views import remove, save
from review.views.together import together
from review.views.withdraw import withdraw_view

urlpatterns = [
    path("", queue, name="queue"),
    path("queue/new/", queue_new, name="queue_new"),
    path("queue/icon/<int:count>.svg", icon, name="queue_icon"),
    path("queue/saved/", save, name="saved_views"),
    path("queue/saved/<int:view>/remove/", remove, name="saved_view_remove"),
    path("proposals/together/", together, name="together"),
    path("proposals/<uuid:id>/", proposal, name="proposal"),
    path("proposals/<uuid:id>/preview/", preview, name="preview"),
    path("proposals/<uuid:id>/edit/", edit, name="edit"),
    path("proposals/<uuid:id>/rule/", rule, name="rule"),
    path("proposals/<uuid:id>/decide/", decide_view, name="decide"),
    path("proposals/<uuid:id>/comment/", comment_view, name="comment"),
    path("proposals/<uuid:id>/meanwhile/", meanwhile, name="meanwhile"),
    path("proposals/<uuid:id>/claim/", claim, name="claim"),
    path("proposals/<uuid:id>/let-go/", let_go, name="let_go"),
    path("proposals/<uuid:id>/withdraw/", withdraw_view, name="withdraw"),
    path("quarantine/<uuid:id>/decide/", decide_view, name="quarantine_decide"),
    path("policy/", policy.policy, name="policy"),
    path("policy/edit/", policy.edit, name="policy_edit"),
    path("policy/propose/", policy.propose, name="policy_propose"),
    path("agents/", agents.agents, name="agents"),
    path("agents/stop/", agents.stop_everything, name="agents_stop_all"),
    path("agents/<uuid:agent>/", agent.agent_page, name="agent"),
    path("agents/<uuid:agent>/transfer/", agent.transfer, name="agent_transfer"),
    path("agents/<uuid:agent>/tokens/", agent.mint, name="agent_mint"),
    path("agents/<uuid:agent>/stop/", agent.stop, name="agent_stop"),
    path("agents/<uuid:agent>/resume/", agent.resume, name="agent_resume"),
    path("agents/<uuid:agent>/webhooks/", agent.register, name="agent_webhooks"),
    path("agents/tokens/<uuid:token>/revoke/", agent.revoke, name="token_revoke"),
    path("agents/webhooks/<uuid:webhook>/rotate/", webhooks.rotate, name="webhook_rotate"),
    path("agents/webhooks/<uuid:webhook>/remove/", webhooks.remove, name="webhook_remove"),
    path("agents/webhooks/<uuid:webhook>/test/", webhooks.test, name="webhook_test"),
    path("agents/messages/<uuid:message>/again/", webhooks.again, name="message_again"),
    path("account/notices/", notices.notices, name="notices"),
    path("account/notices/webhook/", notices.register, name="notices_webhook"),
    path("account/notices/<slug:channel>/", notices.choose, name="notices_choose"),
    path("audit/", trail.trail, name="audit"),
    path("audit/proposals/<uuid:id>/", trail_life.life, name="audit_life"),
    path("audit/<int:seq>/", trail.entry, name="audit_entry"),
    path("audit/<int:seq>/proof.json", trail.proof, name="audit_proof"),
    path("audit/adopt/", adoption.confirm, name="audit_adopt"),
    path("audit/verify/", trail.verify_log, name="audit_verify"),
    path("audit/export.jsonl", trail_export.export_jsonl, name="audit_export_jsonl"),
    path("audit/export.zip", trail_export.export_zip, name="audit_export_zip"),
    path("audit/export.csv", trail_export.export_csv, name="audit_export_csv"),
    path("insights/", insights.insights, name="insights"),
    path("insights/insights.csv", insights.insights_csv, name="insights_csv"),
]
