from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def suppose_the_same(apps: Any, schema_editor: Any) -> None:
    """Who named the addresses that are there was not kept: whoever vouches for the password could have."""
    named = apps.get_model("access", "User").objects.exclude(email="")
    named.update(address_vouched_by=models.F("vouched_by"))


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0004_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="address_vouched_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="access.person"
            ),
        ),
        migrations.RunPython(suppose_the_same, migrations.RunPython.noop),
    ]
