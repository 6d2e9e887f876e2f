"""Settings of the console, read from the environment once at start.

Every variable is optional in demo mode. Production refuses to start on an unsafe combination and
names the variable that has to change. No variable turns review off: there is nothing here to turn.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from environs import Env

from huqan_site.environment import (
    checkpoint_addresses,
    database,
    mail_url,
    owning_database,
    refuse_unsafe,
    secret_key,
)

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent
HUQAN_MODE = env.str("HUQAN_MODE", "demo")
HUQAN_DATA_DIR = Path(env.str("HUQAN_DATA_DIR", str(BASE_DIR / "var"))).absolute()
HUQAN_DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
HUQAN_KEYS_DIR = Path(env.str("HUQAN_KEYS_DIR", str(HUQAN_DATA_DIR / "keys"))).absolute()
HUQAN_WITNESS_FILE = Path(env.str("HUQAN_WITNESS_FILE", str(HUQAN_DATA_DIR / "witness.txt"))).absolute()
HUQAN_BIND = env.str("HUQAN_BIND", f"127.0.0.1:{env.int('PORT', 8000)}")
HUQAN_BASE_URL = env.str("HUQAN_BASE_URL", f"http://{HUQAN_BIND}").rstrip("/")
HUQAN_LOG_NAME = env.str("HUQAN_LOG_NAME", "huqan.local/audit")
HUQAN_RATE_PER_MINUTE = env.int("HUQAN_RATE_PER_MINUTE", 600)
HUQAN_LOGIN_RATE_PER_MINUTE = env.int("HUQAN_LOGIN_RATE_PER_MINUTE", 30)
HUQAN_MAX_OPEN_PROPOSALS = env.int("HUQAN_MAX_OPEN_PROPOSALS", 100)
HUQAN_WEBHOOK_HOSTS: list[str] = env.list("HUQAN_WEBHOOK_HOSTS", [])
HUQAN_CHECKPOINTS_TO = checkpoint_addresses(env)
HUQAN_WORKER = env.bool("HUQAN_WORKER", True)
HUQAN_TRUSTED_PROXIES = env.int("HUQAN_TRUSTED_PROXIES", 0)
HUQAN_MAIL_URL = mail_url(env)
HUQAN_MAIL_FROM = env.str("HUQAN_MAIL_FROM", f"huqan@{urlsplit(HUQAN_BASE_URL).hostname}")
HUQAN_THREADS = env.int("HUQAN_THREADS", 32)
HUQAN_WRITE_WAIT_SECONDS = env.float("HUQAN_WRITE_WAIT_SECONDS", 10)
HUQAN_EFFECTS = {
    "memory.supersede": "memory.changes.MemorySupersede",
    "memory.write": "memory.effects.MemoryWrite",
    "memory.archive": "memory.changes.MemoryArchive",
    "memory.restore": "memory.changes.MemoryRestore",
    "memory.retract": "memory.changes.MemoryRetract",
    "memory.erase": "memory.erasing.MemoryErase",
    "memory.release": "memory.changes.MemoryRelease",
    "memory.resolve": "memory.resolution.MemoryResolve",
    "tombstone.lift": "memory.changes.TombstoneLift",
    "policy.change": "review.services.policy_change.PolicyChange",
}
HUQAN_CHORES = {"erasures swept from the files": "memory.gateway.sweep.sweep_due"}
HUQAN_HELD_PAGE = "memory.views.quarantine.show"

PRODUCTION = HUQAN_MODE == "production"
DEBUG = False
SECRET_KEY = secret_key(env, HUQAN_DATA_DIR)
ALLOWED_HOSTS = env.list("HUQAN_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
refuse_unsafe(env, mode=HUQAN_MODE, bind=HUQAN_BIND, hosts=ALLOWED_HOSTS, base_url=HUQAN_BASE_URL)

DATABASES = {"default": database(env, HUQAN_DATA_DIR, wait=HUQAN_WRITE_WAIT_SECONDS)}
HUQAN_DATABASE_OWNER = owning_database(env, DATABASES["default"], wait=HUQAN_WRITE_WAIT_SECONDS)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "huqan_cache",
        "OPTIONS": {"MAX_ENTRIES": 100_000},
    }
}

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "ninja",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "review.audit",
    "review.access",
    "review.webhooks",
    "review",
    "memory",
    "huqan_site.apps.SiteConfig",
]

MIDDLEWARE = [
    "review.audit.request_context.RequestContextMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "huqan_site.weight.LightStatics",
    "huqan_site.weight.LightPages",
    "csp.middleware.CSPMiddleware",
    "huqan_site.middleware.UnavailableMiddleware",
    "huqan_site.api_middleware.ApiMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "huqan_site.language.LanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "huqan_site.urls"
WSGI_APPLICATION = "huqan_site.wsgi.application"

TEMPLATE_LOADERS = [
    "django.template.loaders.filesystem.Loader",
    "django.template.loaders.app_directories.Loader",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [("huqan_site.template_words.Loader", TEMPLATE_LOADERS)],
            "libraries": {"i18n": "huqan_site.template_words"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "huqan_site.navigation.navigation",
            ],
        },
    }
]

SILENCED_SYSTEM_CHECKS = ["templates.W003"]  # ours is to stand in for Django's `i18n`: that is its point

# People sign in here and nowhere else; who they are comes from the session alone.
AUTH_USER_MODEL = "access.User"
AUTHENTICATION_BACKENDS = ["review.access.backend.AccountBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "review.access.adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_SESSION_REMEMBER = False
ACCOUNT_LOGIN_BY_CODE_ENABLED = False
# Who guesses is stopped where he is: by address, and by address and account, so that nobody else is locked out.
ACCOUNT_RATE_LIMITS = {
    "login": f"{HUQAN_LOGIN_RATE_PER_MINUTE}/m/ip",
    "login_failed": "5/5m/key",
    "reset_password": "20/m/ip,5/h/key",
    "step_up": "5/5m/key",
}
MFA_ADAPTER = "review.access.factors.FactorAdapter"
MFA_FORMS = {"authenticate": "review.access.forms.SecondFactor"}
MFA_TOTP_TOLERANCE = 1
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "huqan_session"
CSRF_COOKIE_NAME = "huqan_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "huqan_site.errors.csrf_failure"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = False
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PRODUCTION else None
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS = [HUQAN_BASE_URL] if PRODUCTION else []
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "object-src": ["'none'"],
    }
}
# Bodies of the API are limited to 256 KiB by the reader; forms carry a reason and a few digests.
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("tr", "Türkçe")]
LANGUAGE_COOKIE_NAME = "huqan_language"
LANGUAGE_COOKIE_AGE = 365 * 24 * 60 * 60
LANGUAGE_COOKIE_SECURE = PRODUCTION
LOCALE_PATHS = [BASE_DIR / "huqan_site" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 300

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    # An answer of 4xx is the client's affair and stands in the access log; what failed here is logged as an error.
    # What a receiver of webhooks gets wrong stands on the page of its agent.
    # A request with a foreign Host is answered with 400; a traceback for each would let anybody fill the log.
    "loggers": {
        "django.request": {"level": "ERROR"},
        "urllib3": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
    },
    "root": {"handlers": ["stderr"], "level": env.str("HUQAN_LOG_LEVEL", "WARNING")},
}
