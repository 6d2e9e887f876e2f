"""Ids are time-ordered, so that the newest row sorts last."""

from uuid import UUID

from huqan_site.lib.ids import new_id


def test_later_ids_sort_after_earlier_ones():
    ids = [new_id() for _ in range(1000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 1000
    assert sorted(map(str, ids)) == list(map(str, ids))


def test_an_id_is_a_standard_uuid_of_version_7():
    assert type(new_id()) is UUID
    assert new_id().version == 7
