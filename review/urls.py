"""The people's addresses of proposals."""

from django.urls import path

from review.views.decide import decide_view
from review.views.proposal import proposal
from review.views.queue import queue, queue_new

urlpatterns = [
    path("", queue, name="queue"),
    path("queue/new/", queue_new, name="queue_new"),
    path("proposals/<uuid:id>/", proposal, name="proposal"),
    path("proposals/<uuid:id>/decide/", decide_view, name="decide"),
    path("quarantine/<uuid:id>/decide/", decide_view, name="quarantine_decide"),
]
