"""The people's addresses of memory."""

from django.urls import path

from memory.views.change import ARCHIVE, QUARANTINE, RESTORE, RETRACT, SUPERSEDE, begin
from memory.views.conflicts import conflict, open_conflicts
from memory.views.erase import certificate, erase, erase_label
from memory.views.exchange import export, import_page
from memory.views.quarantine import quarantine_item
from memory.views.quarantine_list import quarantine
from memory.views.quarantine_source import quarantine_source
from memory.views.record import record
from memory.views.rejected import lift, rejected_values
from memory.views.search import search

urlpatterns = [
    path("quarantine/", quarantine, name="quarantine"),
    path("quarantine/<uuid:proposal_id>/", quarantine_item, name="quarantine_item"),
    path("proposals/<uuid:id>/certificate/", certificate, name="erasure_certificate"),
    path("quarantine/<uuid:proposal_id>/source/", quarantine_source, name="quarantine_source"),
    path("memory/", search, name="memory"),
    path("memory/import/", import_page, name="memory_import"),
    path("memory/export.jsonl", export, name="memory_export"),
    path("memory/rejected/", rejected_values, name="rejected"),
    path("memory/rejected/<uuid:tombstone_id>/lift/", lift, name="tombstone_lift"),
    path("memory/conflicts/", open_conflicts, name="conflicts"),
    path("memory/conflicts/<uuid:conflict_id>/", conflict, name="conflict"),
    path("memory/erase/", erase_label, name="memory_erase_label"),
    path("memory/<uuid:record_id>/", record, name="memory_record"),
    path("memory/<uuid:record_id>/erase/", erase, name="memory_erase"),
    path("memory/<uuid:record_id>/retract/", begin, {"change": RETRACT}, name="memory_retract"),
    path("memory/<uuid:record_id>/supersede/", begin, {"change": SUPERSEDE}, name="memory_supersede"),
    path("memory/<uuid:record_id>/quarantine/", begin, {"change": QUARANTINE}, name="memory_quarantine"),
    path("memory/<uuid:record_id>/archive/", begin, {"change": ARCHIVE}, name="memory_archive"),
    path("memory/<uuid:record_id>/restore/", begin, {"change": RESTORE}, name="memory_restore"),
]
