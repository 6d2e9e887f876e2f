from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0006_no_reminders"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.AddField(
            model_name="user",
            name="keys",
            field=models.BooleanField(default=True),
        ),
        migrations.AddField(
            model_name="user",
            name="language",
            field=models.CharField(blank=True, choices=[("en", "English"), ("tr", "Türkçe")], max_length=8),
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(("language", ""), ("language__in", ["en", "tr"]), _connector="OR"),
                name="language_is_known",
            ),
        ),
    ]
