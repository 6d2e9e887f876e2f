"""What this app will not do: to agents at the door, and to people who set things up.

Those of the door belong here, since `review.domain` stands above this app. `advice` is the further
sentence of a page, as in `review.domain.refusals`.
"""

from __future__ import annotations

from typing import ClassVar

from huqan_site.lib.problems import Refusal

# At the agents' door.


class Unauthorized(Refusal):
    """One answer for a wrong, revoked, expired, doubled or misplaced token: it tells nothing about which."""

    code, status, title = "unauthorized", 401, "Not authorised"
    detail = (
        "Send one valid token as `Authorization: Bearer hqn_…`, never in the address. A manager mints one."
    )


class MissingScope(Refusal):
    code, status, title = "missing_scope", 403, "The token lacks a scope"
    detail = "This token may not do that; `scope` names what it lacks. A manager mints a token that has it."


class AgentStopped(Refusal):
    code, status, title = "agent_stopped", 403, "The agent is stopped"
    detail = "This agent was stopped, or nobody active answers for it, so it changes nothing. Ask a manager."


class RateLimited(Refusal):
    code, status, title = "rate_limited", 429, "Too many requests"
    detail = "This token sent more requests than it may in a minute. Wait as long as Retry-After says."

    @property
    def retry_after(self) -> int:
        """Whole seconds for the Retry-After header."""
        return int(self.extra["retry_after"])


# In setting up.


class SetUpDeclined(Refusal):
    """Nothing was changed; `advice` says what this person can do, or who else can."""

    advice: ClassVar[str] = ""


class SignedOut(SetUpDeclined):
    code, status, title = "signed_out", 403, "Not recorded: you are signed out"
    detail = "What you sent was not recorded, since your session has ended."
    advice = "Sign in in another tab, then go back here: the browser still has what you typed. Send it again."


class NotFound(SetUpDeclined):
    code, status, title = "not_found", 404, "Not found"
    detail = "Nothing with this id is here for you."
    advice = "Open the page it belongs to and choose it there."


class NotManager(SetUpDeclined):
    code, status, title = "not_manager", 403, "Not a manager"
    detail = "This needs an active manager role in the workspace, which you do not have."
    advice = "A manager of the workspace can do it. No account is above this rule."


class OwnRole(SetUpDeclined):
    code, status, title = "own_role", 403, "Nobody grants himself a role"
    detail = "You cannot grant a role to yourself, from any of your accounts."
    advice = "Another manager of the workspace can grant it."


class AlreadyGranted(SetUpDeclined):
    code, status, title = "already_granted", 409, "Already granted"
    detail = "This is granted already and still holds."
    advice = "End it first if it should begin anew."


class NameTaken(SetUpDeclined):
    code, status, title = "name_taken", 409, "The name is taken"
    detail = "This name is in use, whatever the letter case."
    advice = "Choose another name."


class BadName(SetUpDeclined):
    code, status, title = "bad_name", 422, "Not a name"
    detail = "A name starts with a letter or digit; then letters, digits, hyphens and underscores may follow."
    advice = "Account names may also have . @ and +, and up to 150 characters; the others up to 64."


class Disabled(SetUpDeclined):
    code, status, title = "disabled", 409, "The person is disabled"
    detail = "This person is disabled, and a disabled person can be given nothing."
    advice = "Choose somebody who is active."


class NotAMember(SetUpDeclined):
    code, status, title = "not_a_member", 422, "Not a member"
    detail = "This needs somebody with an active role in that workspace."
    advice = "Grant a role first, or choose a member."


class ReasonMissing(SetUpDeclined):
    code, status, title = "reason_required", 422, "A reason is required"
    detail = "Whoever finds the agent stopped reads your reason first, and so does the log."
    advice = "Write why, in a sentence."


class OwnStop(SetUpDeclined):
    code, status, title = "own_stop", 403, "Another manager must lift this"
    detail = "You stopped this agent, and a stop is lifted by a second person."
    advice = "Any other manager of the workspace can do it."


class Unanswered(SetUpDeclined):
    code, status, title = "unanswered", 409, "Nobody answers for it"
    detail = "An agent runs only while somebody active, with a role in the workspace, answers for it."
    advice = "Name an owner, then lift the stop."


class BadTerm(SetUpDeclined):
    code, status, title = "bad_term", 422, "No such term"
    detail = "A token lasts from 1 to 90 days and has at least one of the scopes propose, read and redeem."


class LinkSpent(SetUpDeclined):
    code, status, title = "link_spent", 410, "The link no longer works"
    detail = "This link was used, has run out, or never was one of ours. A link works once, for 72 hours."
    advice = "Ask the operator for a new one."


class WeakPassword(SetUpDeclined):
    code, status, title = "weak_password", 422, "Choose another password"
    detail = "This password is too easy to guess."


class WrongPassword(SetUpDeclined):
    code, status, title = "wrong_password", 403, "Wrong password"
    detail = "The password is not the one of your account, and nothing was changed."
    advice = "Type it again. What you typed elsewhere is kept."


class TooManyAttempts(SetUpDeclined):
    code, status, title = "too_many_attempts", 429, "Too many attempts"
    detail = "Too many wrong passwords were typed for this account. It can be tried again in a few minutes."
